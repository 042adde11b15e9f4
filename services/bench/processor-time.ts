import { readFileSync } from 'node:fs'

/** Of the kernel's accounts on every Linux that Node runs on. */
const ticksPerSecond = 100

/** What a process with all its threads has used of processors so far, in milliseconds. */
export const processorMs = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the name in parentheses, which may hold anything; the fields after it begin with the third.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system] = [fields[11], fields[12]]
  if (user === undefined || system === undefined) throw new Error(`process ${pid} is gone`)
  return ((Number(user) + Number(system)) * 1_000) / ticksPerSecond
}
