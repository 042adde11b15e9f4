import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from './port.ts'
import type { TestServer } from './server.ts'

/** How to run one kind of server as a container. */
export interface ContainerLaunch {
  image: string
  port: number
  /** Of this machine; a free one unless told. */
  hostPort?: number | undefined
  command?: string[]
  environment?: Readonly<Record<string, string>>
  /** Text files by their absolute path in the container. */
  files?: Record<string, string>
  url(port: number): string
  answers(url: string): Promise<void>
}

const startWithinMs = 120_000
const pollMs = 50

/** Starts a container of this test alone, on a host port that stays the same over a restart. */
export const startContainer = async (launch: ContainerLaunch): Promise<TestServer> => {
  // Loaded only here: it is heavy, and most machines have the programs themselves.
  const { GenericContainer, getContainerRuntimeClient } = await import('testcontainers')
  const host = launch.hostPort ?? (await freePort())
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
    await untilAnswers(launch, url)
  }
  await untilAnswers(launch, url)
  return {
    url,
    async kill() {
      // Past the library, which takes a container that it stopped for gone: it would never remove it.
      const { container: containers } = await getContainerRuntimeClient()
      await containers.getById(container.getId()).kill()
    },
    restart,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

const untilAnswers = async (launch: ContainerLaunch, url: string): Promise<void> => {
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
