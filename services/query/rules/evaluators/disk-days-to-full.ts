import { z } from 'zod'
import { type Earlier, maxDays, maxDisks } from '../earlier.ts'
import { measured, untold } from '../measured.ts'
import { daySeconds, secondsToFull } from './growth.ts'
import { failing } from './failing.ts'
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
  const disks = Rows.parse((await ask(statement)).rows)
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
    keep: sampled(earlier, disks, Math.floor(today)),
  }
})

/** The first sample of each day, of the disks that there are now; nothing when this day has one of each. */
const sampled = ({ disks: known }: Earlier, disks: z.infer<typeof Rows>, day: number): Partial<Earlier> => {
  if (disks.every(([name]) => known[name]?.at(-1)?.day === day)) return {}
  const samples = disks.map(([name, used]) => {
    const earlier = (known[name] ?? []).filter((sample) => sample.day > day - maxDays && sample.day < day)
    const first = known[name]?.find((sample) => sample.day === day) ?? { day, used }
    return [name, [...earlier, first]]
  })
  return { disks: Object.fromEntries(samples) }
}
