import { describe, expect, it } from 'vitest'
import { openTelemetry } from '#shared/telemetry/open.ts'
import { openFileStores, openRedisStores, openServerStores } from '../../testing/delivery-model/schedule-stores.ts'
import { playSchedule } from '../../testing/delivery-model/schedule.ts'
import type { ScheduleStores } from '../../testing/delivery-model/schedule-environment.ts'
import { describeWith } from '../../testing/describe-with.ts'

/** Number of random schedules. Long runs set a higher `FAULTS_SCHEDULES`; `TEST_SEED` runs only that schedule. */
const schedules = Number(process.env.FAULTS_SCHEDULES ?? 12)
const oneSeed = process.env.TEST_SEED
const firstSeed = 1
const atOnce = 6
const longMs = 3_600_000
const maxShown = 3

const facts = { instance: 'model', version: 'test', services: ['alert-dispatcher'], secretNames: [] }

/** Runs the schedules of these seeds concurrently, each with its own stores. Fails if one violates an invariant. */
const play = async (wanted: readonly number[], open: () => Promise<ScheduleStores>, lanes = atOnce): Promise<void> => {
  const waiting = wanted.values()
  const counts = { schedules: 0, sends: 0 }
  const broken: string[] = []
  const lane = async () => {
    for (const seed of waiting) {
      await using place = await open()
      await using telemetry = await openTelemetry({ LOG_LEVEL: 'fatal' }, facts, { write: () => {} })
      const { log, problems, sends } = await playSchedule(place, telemetry.of('alert-dispatcher'), seed)
      if (problems.length > 0) broken.push([`TEST_SEED=${seed}`, ...problems, ...log].join('\n'))
      counts.schedules += 1
      counts.sends += sends
    }
  }
  await Promise.all(Array.from({ length: Math.min(lanes, wanted.length) }, lane))
  process.stdout.write(
    `delivery model: ${counts.schedules} schedules, ${counts.sends} sends, invariants broken in ${broken.length}\n`,
  )
  expect(broken.slice(0, maxShown).join('\n\n')).toBe('')
}

const seedsOf = (count: number): number[] =>
  oneSeed ? [Number(oneSeed)] : Array.from({ length: Math.ceil(count) }, (_, index) => firstSeed + index)

describe('delivery under faults', () => {
  it(
    'sends each target a recovery after each fire and no other, in order, and ends with what is true',
    { timeout: longMs },
    () => play(seedsOf(schedules / 20), openFileStores),
  )

  it('does so without a database, as long as the store keeps what it holds', { tags: ['long'], timeout: longMs }, () =>
    play(seedsOf(schedules / 40), () => openFileStores({ isPersistent: false })),
  )
})

describeWith(['redis'], 'delivery with a single Redis under faults', () => {
  it('keeps what it promises', { tags: ['long'], timeout: longMs }, async () => {
    await using places = await openRedisStores()
    await play(seedsOf(schedules), () => places.open(), 12)
  })
})

describeWith(
  ['redis', 'postgres'],
  'delivery on servers that are killed',
  () => {
    it('keeps what it promises', { timeout: longMs }, () => play(seedsOf(schedules / 40), openServerStores, 2))
  },
  ['long'],
)
