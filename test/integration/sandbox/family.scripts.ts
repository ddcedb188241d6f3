// Shell scripts that start processes in every way in which one can get away from its parent. $1 is a name; each process carries
// it in its command line.

const LIVE = 'while :; do /bin/sleep 1000; done';

/** The hardest to find: forked twice, in a session of its own, its parent gone, its environment empty, no pipe of ours held. */
const ORPHAN = `(env -i "$(command -v setsid)" /bin/sh -c '${LIVE}' "$1-orphan" </dev/null >/dev/null 2>&1 &)`;

export const FAMILY_SCRIPT = `
sh -c '${LIVE}' "$1-group" &
setsid sh -c '${LIVE}' "$1-session" &
${ORPHAN}
while :; do sleep 1000; done`;

export const LEAVE_SCRIPT = `${ORPHAN}
exit 0`;
