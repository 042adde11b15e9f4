import { type HostProxy, startHostProxy } from './host-proxy.ts'

/** A proxy that can hold statements before they reach a real host. */
export interface PausableHost extends HostProxy {
  /** Returns the number of held statements that contain this text. */
  waiting(text: string): number
  hold(): void
  release(): void
}

/** Starts the proxy. It forwards all statements until `hold` is called. */
export const startPausableHost = async (hostUrl: string): Promise<PausableHost> => {
  let gate: PromiseWithResolvers<void> | undefined
  const waiting = new Set<string>()
  const before = await startHostProxy(hostUrl, async (body, url) => {
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
