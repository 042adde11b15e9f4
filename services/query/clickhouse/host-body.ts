import { setImmediate as nextTick } from 'node:timers/promises'
import { releaseBytes } from '#shared/bus/body.ts'
import { maxFrameBytes } from '#shared/bus/limits.ts'

/** A response body with a single reader. */
export interface HostBody {
  /**
   * Returns the received bytes, preceded by `left`, the unread rest of the previous piece. Returns undefined at the
   * end. A piece is valid until the next call, which reuses its memory.
   */
  take(left?: Buffer): Promise<Buffer | undefined>
  /** Aborts a response that has not ended and releases the memory of the last piece. Later calls do nothing. */
  leave(): void
}

/** Buffers the chunks of a socket until they are read. */
export interface ChunkBuffer extends Pick<HostBody, 'take'> {
  /** Releases the memory of the last piece. */
  release(): void
  push(chunk: Buffer): void
  /** Marks the end of the body, with an error if it failed. Later calls do nothing. */
  end(error?: Error): void
  hasEnded(): boolean
  /** Returns whether the buffer holds a full piece. */
  isFull(): boolean
}

/** Returns a buffer that joins chunks into pieces. It calls `onRoom` when it can accept more. */
export const openChunkBuffer = (onRoom: () => void): ChunkBuffer => {
  const chunks: Buffer[] = []
  const joiner = openJoiner()
  let bytes = 0
  let end: { error: Error | undefined } | undefined
  let wake = (): void => undefined

  return {
    hasEnded: () => end !== undefined,
    isFull: () => bytes >= maxFrameBytes,
    push(chunk) {
      chunks.push(chunk)
      bytes += chunk.length
      wake()
    },
    end(error) {
      end ??= { error }
      wake()
    },
    release: joiner.release,
    async take(left = nothing) {
      if (chunks.length === 0 && !end) await new Promise<void>((resolve) => (wake = resolve))
      // Waiting one tick may join more chunks into this piece; every piece costs a message on the bus.
      if (bytes < maxFrameBytes && !end) await nextTick()
      if (chunks.length === 0) {
        if (end?.error) throw end.error
        return undefined
      }
      const taken = chunks.splice(0, countFitting(chunks, Math.max(maxFrameBytes - left.length, maxFrameBytes / 2)))
      const piece = joiner.pieceOf(left, taken)
      bytes -= piece.length - left.length
      if (bytes < maxFrameBytes) onRoom()
      return piece
    },
  }
}

const nothing = Buffer.alloc(0)

/** Returns how many chunks fit into `bytes`, at least one. */
const countFitting = (chunks: readonly Buffer[], bytes: number): number => {
  let left = bytes
  const first = chunks.findIndex((chunk) => (left -= chunk.length) < 0)
  return first === -1 ? chunks.length : Math.max(1, first)
}

interface Joiner {
  pieceOf(left: Buffer, chunks: readonly Buffer[]): Buffer
  release(): void
}

/** Joins chunks in reused memory, because an allocation per piece costs more than the copy. */
const openJoiner = (): Joiner => {
  let memory = nothing
  return {
    pieceOf(left, chunks) {
      const [only] = chunks
      if (only && left.length === 0 && chunks.length === 1) return only
      const length = chunks.reduce((sum, chunk) => sum + chunk.length, left.length)
      const target = length <= memory.length ? memory : Buffer.allocUnsafeSlow(Math.max(maxFrameBytes, length * 2))
      left.copy(target)
      let at = left.length
      for (const chunk of chunks) {
        at += chunk.copy(target, at)
        releaseBytes(chunk)
      }
      memory = target
      return target.subarray(0, length)
    },
    release() {
      releaseBytes(memory)
      memory = nothing
    },
  }
}
