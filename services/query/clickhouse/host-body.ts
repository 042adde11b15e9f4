import { setImmediate as nextTurn } from 'node:timers/promises'
import { giveBack } from '#shared/bus/body.ts'
import { frameBytes } from '#shared/bus/limits.ts'

/** The body of an answer in pieces as large as what has come; it is read once, by one reader. */
export interface HostBody {
  /**
   * What has come, behind what the reader has left of the piece before; undefined at the end. A piece may be read until
   * the next one is asked for, as their memory is used again.
   */
  take(left?: Buffer): Promise<Buffer | undefined>
  /** Ends the answer if it has not ended, and gives the memory of the last piece back. Later calls do nothing. */
  leave(): void
}

/** Chunks as they come from a socket, until somebody takes them. */
export interface Arrivals extends Pick<HostBody, 'take'> {
  /** Gives the memory of the last piece back. */
  release(): void
  push(chunk: Buffer): void
  /** Nothing more comes; with an error that is the end. Later calls do nothing. */
  end(error?: Error): void
  hasEnded(): boolean
  /** Whether there is as much as a piece may have. */
  isFull(): boolean
}

/** Collects chunks and hands them over joined. `onRoom` is called when more may come. */
export const openArrivals = (onRoom: () => void): Arrivals => {
  const chunks: Buffer[] = []
  const join = openJoin()
  let bytes = 0
  let end: { error: Error | undefined } | undefined
  let wake = (): void => undefined

  return {
    hasEnded: () => end !== undefined,
    isFull: () => bytes >= frameBytes,
    push(chunk) {
      chunks.push(chunk)
      bytes += chunk.length
      wake()
    },
    end(error) {
      end ??= { error }
      wake()
    },
    release: join.release,
    async take(left = nothing) {
      if (chunks.length === 0 && !end) await new Promise<void>((resolve) => (wake = resolve))
      // Until the next turn the socket may give more, which then is one piece: each costs its way through the bus.
      if (bytes < frameBytes && !end) await nextTurn()
      if (chunks.length === 0) {
        if (end?.error) throw end.error
        return undefined
      }
      const taken = chunks.splice(0, fitting(chunks, Math.max(frameBytes - left.length, frameBytes / 2)))
      const piece = join.pieceOf(left, taken)
      bytes -= piece.length - left.length
      if (bytes < frameBytes) onRoom()
      return piece
    },
  }
}

const nothing = Buffer.alloc(0)

/** How many of the chunks, and at least one, are no more bytes than this. */
const fitting = (chunks: readonly Buffer[], bytes: number): number => {
  let left = bytes
  const first = chunks.findIndex((chunk) => (left -= chunk.length) < 0)
  return first === -1 ? chunks.length : Math.max(1, first)
}

interface Join {
  pieceOf(left: Buffer, chunks: readonly Buffer[]): Buffer
  release(): void
}

/** Joins pieces in memory that is used again for the next; asking for it anew costs more than the copy. */
const openJoin = (): Join => {
  let memory = nothing
  return {
    pieceOf(left, chunks) {
      const [only] = chunks
      if (only && left.length === 0 && chunks.length === 1) return only
      const length = chunks.reduce((sum, chunk) => sum + chunk.length, left.length)
      const target = length <= memory.length ? memory : Buffer.allocUnsafeSlow(Math.max(frameBytes, length * 2))
      left.copy(target)
      let at = left.length
      for (const chunk of chunks) {
        at += chunk.copy(target, at)
        giveBack(chunk)
      }
      memory = target
      return target.subarray(0, length)
    },
    release() {
      giveBack(memory)
      memory = nothing
    },
  }
}
