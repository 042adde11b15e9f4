import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ExpositionHead } from '#proto/exposition.ts'
import type { Host, query } from '#proto/query.ts'

/** Half the streams that one connection to the bus may carry. */
const atOnce = 32
/** A text longer than this is no host's. */
const maxTextBytes = 64 * 1024 * 1024
/** What `query` could not tell is asked again this soon. */
const retryAfterMs = 5_000

const plain = promisify(gunzip)

/** The figures of one host, or why there are none. */
export interface Gathered extends ExpositionHead {
  host: Host
  text: string
}

/** Asks for the figures of all these hosts, and hands each over as it comes. A host that fails costs no other. */
export const gather = async (
  client: Client<typeof query>,
  hosts: readonly Host[],
  call: () => Call,
  take: (gathered: Gathered) => void,
): Promise<void> => {
  const waiting = hosts.values()
  const worker = async (): Promise<void> => {
    for (const host of waiting) take(await figuresOf(client, host, call()))
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

const figuresOf = async (client: Client<typeof query>, host: Host, call: Call): Promise<Gathered> => {
  try {
    const { head, frames } = await client.exposition({ hostKey: host.key }, call)
    const pieces = await Array.fromAsync(frames)
    const text = pieces.length === 0 ? '' : await plain(Buffer.concat(pieces), { maxOutputLength: maxTextBytes })
    return { ...head, host, text: text.toString('utf8') }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { host, failure: error.code, ageMs: null, freshForMs: retryAfterMs, text: '' }
  }
}
