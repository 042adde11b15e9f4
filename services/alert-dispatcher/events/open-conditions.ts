import type { Store } from '#shared/store/store.ts'
import type { Condition } from '../conditions/condition.ts'
import { inLanes } from '../sweeps/lanes.ts'
import { EventIndex, EventRecord, indexKey, recordKey } from './record.ts'

/** One condition that an inbound event began, and where it is kept. */
export interface OpenCondition {
  /** The record and the entry in it. */
  name: string
  place: string
  source: string
  condition: Condition
}

const recordsAtOnce = 16

/** The conditions of inbound events, `most` of them or a few more; records beyond are not read. */
export const openConditions = async (store: Store, most: number): Promise<OpenCondition[]> => {
  const index = (await store.get(indexKey, EventIndex)) ?? {}
  const found: OpenCondition[] = []
  const names = Object.keys(index).filter((name) => (index[name]?.open ?? 0) > 0)
  await inLanes(names, recordsAtOnce, async (name) => {
    if (found.length >= most) return
    const { entries = {} } = (await store.get(recordKey(name), EventRecord)) ?? {}
    for (const [place, { source, condition }] of Object.entries(entries))
      if (condition) found.push({ name, place, source, condition })
  })
  return found
}
