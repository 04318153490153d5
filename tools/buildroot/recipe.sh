# shellcheck shell=bash
# Reads packages.txt, and names what a build root is made from. Needs BUILDROOT
# (this folder). Used on the host and, by stage.sh, inside the root.

# Prints the names of the sections of packages.txt, in order.
recipe_sections() { sed -n 's/^\[\([a-z]*\) .*/\1/p' "$BUILDROOT/packages.txt"; }

# Prints the suites of a section ($1), the preferred one first.
recipe_suites() { sed -n "s/^\[$1 \([^]]*\)\].*/\1/p" "$BUILDROOT/packages.txt"; }

# Prints what a section ($1) is for.
recipe_title() { sed -n "s/^\[$1 [^]]*\] *//p" "$BUILDROOT/packages.txt"; }

# Prints the packages of a section ($1), one a line.
recipe_packages() {
  awk -v want="$1" '
    /^\[/ { split(substr($1, 2), name, "]"); inside = (name[1] == want); next }
    { sub(/#.*/, "") }
    inside && NF { print $1 }' "$BUILDROOT/packages.txt"
}

# Prints the identity of the recipe: 12 hex digits that change when a package, a
# suite or a command of the recipe changes, and not when a comment does.
recipe_hash() {
  sed -e 's/\(^\|[[:space:]]\+\)#.*//' -e '/^[[:space:]]*$/d' \
    "$BUILDROOT/packages.txt" "$BUILDROOT/dpkg.cfg" "$BUILDROOT/stage.sh" \
    "$BUILDROOT/bootstrap.sh" | sha256sum | cut -c1-12
}
