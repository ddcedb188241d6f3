// Programs that try to leave their job by every means that a process without privileges has. The shell scripts take a name as $1;
// what they leave behind carries it in its command line, for the probe to find.

const ORPHANED = (role: string): string =>
  `env -i /usr/bin/setsid /bin/sh -c 'while :; do /bin/sleep 1000; done' "$1-${role}" </dev/null >/dev/null 2>&1 &`;

/** Lowers its limits to those of the process $2, as far as the kernel lets it, and leaves its parents. */
export const MARK_THIEF_SCRIPT = `
resident=$(awk '/^Max resident set/ { print $5 }' "/proc/$2/limits")
locks=$(awk '/^Max file locks/ { print $5 }' "/proc/$2/limits")
(ulimit -m $((resident / 1024)); ulimit -w "$locks"; ${ORPHANED('thief')})
while :; do sleep 1000; done`;

/** A daemon that left its parents, after \`limit\` was set. */
export const daemonScript = (limit: string): string => `(${limit}; ${ORPHANED('daemon')})
while :; do sleep 1000; done`;

/** Perl, with the name as its argument. Makes a child of its own parent, which is the supervisor (CLONE_PARENT, clone(2)). */
export const CLONED_SIBLING_SCRIPT = `
my ($clone, $clone_parent, $sigchld) = (\`uname -m\` =~ /x86_64/ ? 56 : 220, 0x8000, 17);
if (syscall($clone, $clone_parent | $sigchld, 0, 0, 0, 0) == 0) {
  exec('/bin/sh', '-c', 'ulimit -m 1024; exec setsid sh -c "while :; do sleep 1000; done" "$0"', "$ARGV[0]-sibling");
}
sleep 1000;`;
