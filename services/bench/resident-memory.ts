import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { startProduct } from '../testing/product.ts'
import { startSandbox } from '../sandbox/start.ts'
import type { Benchmark } from './benchmark.ts'

const idleMs = 30_000
/** Maximum resident memory of a process with all seven services, in MiB. */
const maxResidentMib = 200

/** Measures the resident memory of the product 30 seconds after it is ready. Its two hosts are not included. */
export const residentMemory: Benchmark = {
  name: 'resident-memory',
  async run() {
    await using first = await startSandbox({ seed: false })
    await using second = await startSandbox({ seed: false })
    await using product = await startProduct({
      topology: 'memory',
      hosts: [
        { url: first.url, name: 'one' },
        { url: second.url, name: 'two' },
      ],
    })
    await setTimeout(idleMs)
    const ours = product.pids.map(readResidentMemoryMib)
    return [{ name: '30 s after ready', unit: 'MiB', ours, reference: [maxResidentMib], bar: { atMost: 1 } }]
  },
}

/** Returns the resident memory of a process in MiB. Throws if the process has exited. */
export const readResidentMemoryMib = (pid: number): number => {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (kilobytes === undefined) throw new Error(`cannot read the memory of process ${pid}: it has exited`)
  return Number(kilobytes) / 1024
}
