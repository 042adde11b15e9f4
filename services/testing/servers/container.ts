import { setTimeout as wait } from 'node:timers/promises'
import { reserveFreePort } from './port.ts'
import type { TestServer } from './server.ts'

/** How to start a server in a container. */
export interface ContainerLaunch {
  image: string
  port: number
  /** Port on this machine. Default: a free one. */
  hostPort?: number | undefined
  command?: string[]
  environment?: Readonly<Record<string, string>>
  /** Contents of text files, by absolute path in the container. */
  files?: Record<string, string>
  url(port: number): string
  answers(url: string): Promise<void>
}

const startWithinMs = 120_000
const pollMs = 50

/** Starts a container. Its port on this machine stays the same across restarts. */
export const startContainer = async (launch: ContainerLaunch): Promise<TestServer> => {
  // A dynamic import, because the library is large and most machines have the programs installed.
  const { GenericContainer, getContainerRuntimeClient } = await import('testcontainers')
  const host = launch.hostPort ?? (await reserveFreePort())
  const url = launch.url(host)
  const container = await new GenericContainer(launch.image)
    .withExposedPorts({ container: launch.port, host })
    .withCommand(launch.command ?? [])
    .withEnvironment(launch.environment ?? {})
    .withCopyContentToContainer(Object.entries(launch.files ?? {}).map(([target, content]) => ({ target, content })))
    .withStartupTimeout(startWithinMs)
    .start()
  const stop = async () => void (await container.stop())
  const restart = async () => {
    await container.restart()
    await waitUntilReady(launch, url)
  }
  await waitUntilReady(launch, url)
  return {
    url,
    async kill() {
      // The library would not remove a container that it has stopped, so the Docker API kills it.
      const { container: containers } = await getContainerRuntimeClient()
      await containers.getById(container.getId()).kill()
    },
    restart,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

const waitUntilReady = async (launch: ContainerLaunch, url: string): Promise<void> => {
  const until = performance.now() + startWithinMs
  for (;;) {
    try {
      return await launch.answers(url)
    } catch (error) {
      if (performance.now() > until) throw error
      await wait(pollMs)
    }
  }
}
