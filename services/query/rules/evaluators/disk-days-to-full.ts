import { z } from 'zod'
import { type Earlier, maxDays, maxDisks } from '../earlier.ts'
import { measured, untold } from '../measured.ts'
import { daySeconds, secondsToFull } from './growth.ts'
import { failing, readRows } from './failing.ts'
import type { Evaluator } from './evaluator.ts'

/** Disks of object stores claim a size without meaning. */
const statement = {
  what: 'rules',
  maxSeconds: 5,
  sql: `SELECT name, toFloat64(total_space - free_space), toFloat64(greatest(free_space - keep_free_space, 0))
FROM system.disks WHERE lower(type) = 'local' AND total_space > 0 ORDER BY name LIMIT ${maxDisks}`,
}
const Rows = z.array(z.tuple([z.string(), z.number(), z.number()]))

/** Seconds until the first disk is full, at the pace of the last two weeks. */
export const diskDaysToFull: Evaluator = failing(async ({ host, contact, earlier, ask }) => {
  if (!contact.answers) return { measured: untold(contact.reason) }
  if (!earlier) return { measured: untold('the samples of earlier days cannot be read now') }
  const disks = readRows(host, Rows, await ask(statement))
  const today = contact.nowMs / 1_000 / daySeconds
  const told = disks
    .map(([name, used, free]) => ({
      name,
      seconds: secondsToFull(earlier.disks[name] ?? [], { day: today, used }, free),
    }))
    .filter((each): each is { name: string; seconds: number } => each.seconds !== undefined)
    .toSorted((a, b) => a.seconds - b.seconds)
  const [worst] = told
  return {
    measured: worst
      ? measured(
          worst.seconds,
          told.map(({ name }) => name),
        )
      : untold(`host ${host.name} has been sampled on too few days; four are needed`),
    keep: sampled(earlier, disks, today),
  }
})

/** The first sample of each day, of the disks that there are now; nothing when this day has one of each. */
const sampled = ({ disks: known }: Earlier, disks: z.infer<typeof Rows>, now: number): Partial<Earlier> => {
  const today = Math.floor(now)
  const latest = (name: string): number => known[name]?.at(-1)?.day ?? 0
  if (disks.every(([name]) => latest(name) >= today)) return {}
  const samples = disks.map(([name, used]) => {
    const kept = (known[name] ?? []).slice(1 - maxDays)
    return [name, latest(name) >= today ? kept : [...kept, { day: now, used }]]
  })
  return { disks: Object.fromEntries(samples) }
}
