import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { startProduct } from '../testing/product.ts'
import { startSandbox } from '../sandbox/start.ts'
import type { Benchmark } from './benchmark.ts'

const settleMs = 30_000
/** With all seven services. */
const allowedMb = 260

/** What the product process holds 30 seconds after it was ready, with two hosts outside it. */
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
    await setTimeout(settleMs)
    const ours = product.pids.map(residentMb)
    return [{ name: '30 s after ready', unit: 'MB', ours, reference: [allowedMb], bar: { atMost: 1 } }]
  },
}

/** What a process holds in memory now. */
export const residentMb = (pid: number): number => {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (kilobytes === undefined) throw new Error(`process ${pid} is gone`)
  return Number(kilobytes) / 1024
}
