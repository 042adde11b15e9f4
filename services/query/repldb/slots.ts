import type { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { RepldbSlotLag, RepldbSlots } from '#proto/repldb-api.ts'
import type { ReplicationServiceClient } from './client.ts'
import { replicationEndpoints } from './endpoints.ts'

/** A replication slot and the peer that has it. */
export type PeerSlot = z.output<typeof RepldbSlots>['slotData'][number] & { peer: string }

const maxPeers = 20
const maxHistories = 20
/** The service reports the lag of slots in mebibytes. */
export const bytesPerMebibyte = 1_048_576
const mebibytesPerHistoryUnit = 1_000
const hourMs = 3_600_000

/** Returns the slots of all peers, highest lag first. Peers that do not respond are skipped. */
export const fetchSlots = async (service: ReplicationServiceClient, call: CallContext): Promise<PeerSlot[]> => {
  const { items, sourceItems } = await service.callApi(replicationEndpoints.peers, {}, call)
  const sources = (sourceItems.length > 0 ? sourceItems : items).filter(({ type }) => type === 'POSTGRES')
  const slots = await Promise.all(
    sources.slice(0, maxPeers).map(async ({ name }) => {
      const { slotData } = await service.callApi(replicationEndpoints.slots, { name }, call).catch(noSlots)
      return slotData.map((slot) => ({ ...slot, peer: name }))
    }),
  )
  return slots.flat().toSorted((one, other) => (other.lagInMb ?? 0) - (one.lagInMb ?? 0))
}

const noSlots = (error: unknown): z.output<typeof RepldbSlots> => {
  if (error instanceof ServiceError) return { slotData: [] }
  throw error
}

/** The lag growth of a slot in the last hour, in bytes per hour; negative while it catches up. */
export interface SlotLagGrowth {
  slot: string
  bytesPerHour: number
}

/**
 * Returns the lag growth of the slots with the highest lag, fastest first. Slots without a readable history are skipped.
 * Throws if there are only such slots.
 */
export const fetchSlotLagGrowth = async (
  service: ReplicationServiceClient,
  call: CallContext,
): Promise<SlotLagGrowth[]> => {
  const slots = await fetchSlots(service, call)
  const growths = await Promise.allSettled(
    slots.slice(0, maxHistories).map(async ({ peer, slotName }) => {
      const body = { peerName: peer, slotName, timeSince: '1hour' }
      const { data } = await service.callApi(replicationEndpoints.slotLag, { body }, call)
      const bytesPerHour = computeSlotLagGrowth(data)
      return bytesPerHour === undefined ? [] : [{ slot: `${peer}/${slotName}`, bytesPerHour }]
    }),
  )
  const read = growths.filter((growth) => growth.status === 'fulfilled')
  const failed = growths.find((growth) => growth.status === 'rejected')
  if (read.length === 0 && failed) throw failed.reason
  return read.flatMap(({ value }) => value).toSorted((one, other) => other.bytesPerHour - one.bytesPerHour)
}

/** Minimum number of points for a usable slope. */
const minPoints = 5

/** Returns the least-squares slope in bytes per hour; undefined for too few points or equal times. */
export const computeSlotLagGrowth = (points: z.output<typeof RepldbSlotLag>['data']): number | undefined => {
  if (points.length < minPoints) return undefined
  const meanTime = points.reduce((sum, { time }) => sum + time, 0) / points.length
  const meanSize = points.reduce((sum, { size }) => sum + size, 0) / points.length
  const spread = points.reduce((sum, { time }) => sum + (time - meanTime) ** 2, 0)
  if (spread === 0) return undefined
  const together = points.reduce((sum, { time, size }) => sum + (time - meanTime) * (size - meanSize), 0)
  return Math.round((together / spread) * hourMs * mebibytesPerHistoryUnit * bytesPerMebibyte)
}
