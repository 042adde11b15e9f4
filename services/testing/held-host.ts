import { type BeforeHost, startBeforeHost } from './before-host.ts'

/** A real host behind a gate. While the gate is closed, statements wait before they reach the engine. */
export interface HeldHost extends BeforeHost {
  /** Returns the number of waiting statements that contain this text. */
  waiting(text: string): number
  hold(): void
  release(): void
}

/** Starts a gate in front of a host. It is open until `hold` is called. */
export const startHeldHost = async (hostUrl: string): Promise<HeldHost> => {
  let gate: PromiseWithResolvers<void> | undefined
  const waiting = new Set<string>()
  const before = await startBeforeHost(hostUrl, async (body, url) => {
    const entry = `${waiting.size}-${performance.now()} ${decodeURIComponent(url)} ${body.toString()}`
    waiting.add(entry)
    await gate?.promise
    waiting.delete(entry)
    return body
  })
  const release = () => {
    gate?.resolve()
    gate = undefined
  }
  return {
    url: before.url,
    waiting: (text) => [...waiting].filter((entry) => entry.includes(text)).length,
    hold: () => (gate ??= Promise.withResolvers()),
    release,
    [Symbol.asyncDispose]: async () => {
      release()
      await before[Symbol.asyncDispose]()
    },
  }
}
