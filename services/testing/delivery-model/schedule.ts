import { setTimeout as wait } from 'node:timers/promises'
import type { DispatcherEnvironment } from './dispatcher.ts'
import { checkSends, type ScheduleOutcome } from './invariants.ts'
import { targetModes, targetNames } from './fake-targets.ts'
import { type ScheduleStores, ScheduleEnvironment, eventKeys } from './schedule-environment.ts'

/** Returns a generator of deterministic pseudorandom numbers from 0 to 1. */
const createRandom = (seed: number) => {
  let state = (seed * 2_654_435_761) >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const defaultSteps = 14
const jumpsMs = [-3_600_000, 3_600_000, -60_000, 60_000]

type Act = readonly [weight: number, name: string, act: () => void | Promise<void>]

/** Returns the possible actions, each with its weight, name and function. */
const listActions = (
  stage: ScheduleEnvironment,
  place: ScheduleStores,
  pick: <T>(list: readonly T[]) => T,
): readonly Act[] => [
  [5, 'fire', () => stage.send(pick(eventKeys), 'firing', 'warning')],
  [2, 'escalate', () => stage.send(pick(eventKeys), 'firing', 'critical')],
  [5, 'resolve', () => stage.send(pick(eventKeys), 'resolved', 'warning')],
  [3, 'kill a dispatcher', () => stage.end('kill')],
  [1, 'stop a dispatcher', () => stage.end('stop')],
  [1, 'start a dispatcher', () => void (stage.dispatchers.size < 3 && stage.start())],
  [2, 'cut the store', () => stage.trouble('storeIsCut')],
  [1, 'store refuses', () => stage.trouble('storeRefuses')],
  [2, 'database down', () => void (stage.faults.databaseIsDown = true)],
  [2, 'database up', () => void (stage.faults.databaseIsDown = false)],
  [2, 'clock', () => stage.setClock(pick(jumpsMs))],
  [
    4,
    'target',
    () => {
      const [name, mode] = [pick(targetNames), pick(targetModes)]
      stage.note(`target ${name} is ${mode}`)
      stage.targets.modes.set(name, mode)
    },
  ],
  [place.database ? 2 : 0, 'flush', () => stage.flush()],
  ...(place.crash ?? []).map((crash, index) => [1, `crash server ${index}`, crash] as const),
]

/** Runs the random schedule of a seed. Returns its log of actions, the violated invariants and the number of sends. */
export const playSchedule = async (
  place: ScheduleStores,
  telemetry: DispatcherEnvironment['telemetry'],
  seed: number,
): Promise<ScheduleOutcome> => {
  const chance = createRandom(seed)
  await using stage = new ScheduleEnvironment(place, telemetry, chance)
  const pick = <T>(list: readonly T[]): T => {
    const picked = list[Math.floor(chance() * list.length)]
    if (picked === undefined) throw new Error('cannot pick from an empty list')
    return picked
  }
  const acts = listActions(stage, place, pick).flatMap((act) => Array.from({ length: act[0] }, () => act))
  const { log, targets } = stage
  try {
    await stage.start()
    if (chance() < 0.4) await stage.start()
    for (let step = 0; step < Number(process.env.TEST_STEPS ?? defaultSteps); step += 1) {
      const [, name, act] = pick(acts)
      stage.note(name)
      await act()
      await wait(chance() * 40)
    }
    stage.note('all is well')
    await stage.heal()
    const problems = checkSends(targets.sends, await stage.waitUntilDelivered())
    log.push(...stage.sendsInWords())
    return { log, problems, sends: targets.sends.length }
  } catch (error) {
    log.push(...stage.sendsInWords())
    return { log, problems: [String(error)], sends: targets.sends.length }
  }
}
