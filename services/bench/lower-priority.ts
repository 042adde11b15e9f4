import { readdirSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/** Lowers the CPU priority of all threads of a process. Threads that it starts later inherit the priority. */
export const lowerPriority = (pid: number): void => {
  // On Linux each thread has its own priority.
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    setPriority(Number(thread), constants.priority.PRIORITY_LOW)
  }
}
