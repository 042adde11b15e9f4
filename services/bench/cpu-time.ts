import { readFileSync } from 'node:fs'

/** Clock ticks per second in `/proc/<pid>/stat`. The number is the same on every Linux that Node supports. */
const ticksPerSecond = 100

/** Returns the CPU time of a process and all its threads, in milliseconds. */
export const readCpuMs = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the name in parentheses, which can contain any text; parse the fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system] = [fields[11], fields[12]]
  if (user === undefined || system === undefined)
    throw new Error(`cannot read the CPU time of process ${pid}: it has exited`)
  return ((Number(user) + Number(system)) * 1_000) / ticksPerSecond
}
