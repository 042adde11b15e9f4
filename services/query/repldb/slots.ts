import type { z } from 'zod'
import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { RepldbSlotLag, RepldbSlots } from '#proto/repldb-api.ts'
import type { ReplicationService } from './client.ts'
import { endpoints } from './endpoints.ts'

/** A replication slot and the peer that has it. */
export type PeerSlot = z.output<typeof RepldbSlots>['slotData'][number] & { peer: string }

const mostPeers = 20
const mostHistories = 20
/** The megabytes of the service are 2^20 bytes each. */
export const bytesPerMegabyte = 1_048_576
const megabytesPerGigabyte = 1_000
const hourMs = 3_600_000

/** Every slot of the peers that have slots, the one that is furthest behind first; a peer that does not answer has none here. */
export const allSlots = async (service: ReplicationService, call: Call): Promise<PeerSlot[]> => {
  const { items, sourceItems } = await service.ask(endpoints.peers, {}, call)
  const sources = (sourceItems.length > 0 ? sourceItems : items).filter(({ type }) => type === 'POSTGRES')
  const slots = await Promise.all(
    sources.slice(0, mostPeers).map(async ({ name }) => {
      const { slotData } = await service.ask(endpoints.slots, { name }, call).catch(noSlots)
      return slotData.map((slot) => ({ ...slot, peer: name }))
    }),
  )
  return slots.flat().toSorted((one, other) => (other.lagInMb ?? 0) - (one.lagInMb ?? 0))
}

const noSlots = (error: unknown): z.output<typeof RepldbSlots> => {
  if (error instanceof ServiceError) return { slotData: [] }
  throw error
}

/** How much further behind a slot got within the last hour, in bytes an hour; below 0 where it caught up. */
export interface SlotGrowth {
  slot: string
  bytesPerHour: number
}

/** The growth of the slots that are furthest behind, the fastest first. */
export const slotGrowths = async (service: ReplicationService, call: Call): Promise<SlotGrowth[]> => {
  const slots = await allSlots(service, call)
  const growths = await Promise.all(
    slots.slice(0, mostHistories).map(async ({ peer, slotName }) => {
      const body = { peerName: peer, slotName, timeSince: '1hour' }
      const { data } = await service.ask(endpoints.slotLag, { body }, call)
      const bytesPerHour = growthOf(data)
      return bytesPerHour === undefined ? [] : [{ slot: `${peer}/${slotName}`, bytesPerHour }]
    }),
  )
  return growths.flat().toSorted((one, other) => other.bytesPerHour - one.bytesPerHour)
}

/** Fewer points than this show no direction. */
const fewestPoints = 5

/** The slope of the line that lies nearest to all points (least squares); undefined where they are too few or of one moment. */
export const growthOf = (points: z.output<typeof RepldbSlotLag>['data']): number | undefined => {
  if (points.length < fewestPoints) return undefined
  const meanTime = points.reduce((sum, { time }) => sum + time, 0) / points.length
  const meanSize = points.reduce((sum, { size }) => sum + size, 0) / points.length
  const spread = points.reduce((sum, { time }) => sum + (time - meanTime) ** 2, 0)
  if (spread === 0) return undefined
  const together = points.reduce((sum, { time, size }) => sum + (time - meanTime) * (size - meanSize), 0)
  return Math.round((together / spread) * hourMs * megabytesPerGigabyte * bytesPerMegabyte)
}
