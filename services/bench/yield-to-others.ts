import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/** Has a process give way to all others on this machine; threads that it starts later do as the one that starts them. */
export const yieldToOthers = (pid: number): void => {
  // Linux knows a priority of each thread alone.
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    setPriority(Number(thread), constants.priority.PRIORITY_LOW)
  }
}
