import type { z } from 'zod'
import { instanceAnnounced, instanceSought } from '#proto/instance.ts'
import type { Events } from './events.ts'

/** What an announcement says besides `leaving`; asked anew each time, as the load changes. */
export type Presence = () => Omit<z.input<typeof instanceAnnounced.payload>, 'leaving'>

/** Announces an instance at once, from time to time, and to whoever seeks; disposing announces that it leaves. */
export const announce = async (events: Events, presence: Presence, everyMs: number): Promise<AsyncDisposable> => {
  const tell = (leaving: boolean) => events.emit(instanceAnnounced, { ...presence(), leaving })
  const sought = await events.on(instanceSought, () => tell(false))
  tell(false)
  const timer = setInterval(() => tell(false), everyMs)
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await sought[Symbol.asyncDispose]()
      tell(true)
    },
  }
}
