# SPDX-License-Identifier: GPL-2.0
# awk -f leaks.awk leaks.stock REPORT: print the number of objects that kmemleak
# reports, without those of leaks.stock.
FNR == NR {
	if (!/^#/ && NF)
		stock[$0]
	next
}
/^unreferenced object/ { count(); pending = 1; calls = " " }
/\[</ { sub(/\+0x.*/, "", $2); calls = calls $2 " " }
END { count(); print lost + 0 }

function count(	of_stock)
{
	for (of_stock in stock)
		if (index(calls, " " of_stock " "))
			pending = 0
	lost += pending
	pending = 0
}
