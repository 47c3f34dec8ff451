// SPDX-License-Identifier: GPL-2.0

//! Conditions on immediate values: variables that are part of the code that reads them.
//!
//! C header: [`include/linux/immediate.h`](srctree/include/linux/immediate.h)

/// Is an immediate value of one byte, a member of a static structure, not zero?
///
/// The branch is a patched jump where C has one, and otherwise a load. The value is expected to
/// be zero.
///
/// # Safety
///
/// `$key` must be a static of type `$keytyp`, and its member `$field` an immediate value of one
/// byte.
#[macro_export]
macro_rules! imv_unlikely {
    ($key:path, $keytyp:ty, $field:ident) => {{
        #[cfg(not(all(CONFIG_IMMEDIATE_SITES, not(testlib))))]
        {
            let _key: *const $keytyp = ::core::ptr::addr_of!($key);
            ::core::ptr::read_volatile(::core::ptr::addr_of!((*_key).$field).cast::<u8>()) != 0
        }

        #[cfg(all(CONFIG_IMMEDIATE_SITES, not(testlib)))]
        $crate::immediate::arch_imv_branch! { $key, $keytyp, $field }
    }};
}
pub use imv_unlikely;

/// The jump of [`imv_unlikely`].
#[macro_export]
#[doc(hidden)]
#[cfg(all(CONFIG_IMMEDIATE_SITES, not(testlib)))]
macro_rules! arch_imv_branch {
    ($key:path, $keytyp:ty, $field:ident) => {'away: {
        $crate::asm!(
            include!(concat!(env!("OBJTREE"), "/rust/kernel/generated_arch_imv_branch_asm.rs"));
            l_yes = label {
                break 'away true;
            },
            symb = sym $key,
            off = const ::core::mem::offset_of!($keytyp, $field),
        );

        break 'away false;
    }};
}
#[cfg(all(CONFIG_IMMEDIATE_SITES, not(testlib)))]
pub use arch_imv_branch;
