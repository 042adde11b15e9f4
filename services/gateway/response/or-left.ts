import { callerLeft } from './http-error.ts'

/** What streams say of an answer that its caller no longer takes, before its first byte and after it. */
const closed: ReadonlySet<unknown> = new Set(['ERR_STREAM_UNABLE_TO_PIPE', 'ERR_STREAM_PREMATURE_CLOSE'])

/** Waits for an answer that is being sent; a caller who has left meanwhile is told as that, and is no failure of ours. */
export const orLeft = async (sending: Promise<void>): Promise<void> => {
  try {
    await sending
  } catch (error) {
    throw error instanceof Error && 'code' in error && closed.has(error.code) ? callerLeft() : error
  }
}
