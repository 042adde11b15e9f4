import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expectResponse } from './expect-response.ts'
import { startContainer } from './container.ts'
import { startProcess } from './process.ts'
import { type ServerOptions, type TestServer, createExternalServer } from './server.ts'
import { requireServerSource } from './server-source.ts'

export interface NatsOptions extends ServerOptions {
  /** Additional server configuration, such as users and permissions. Implies a private server. */
  config?: string
  /** Environment variables that `config` references. */
  environment?: Readonly<Record<string, string>>
  /** The port, for example that of a killed server to replace. Default: a free one. */
  port?: number
}

/** Starts NATS with JetStream and file storage. */
export const startNats = async (options: NatsOptions = {}): Promise<TestServer> => {
  const { config, environment = {}, private: own, port: hostPort } = options
  const source = requireServerSource('nats', own ?? config !== undefined)
  if ('url' in source) return createExternalServer(source.url)
  const answers = (url: string) => expectResponse(url, 'INFO ')
  const url = (port: number) => `nats://127.0.0.1:${port}`
  if ('image' in source) {
    return startContainer({
      image: source.image,
      port: 4222,
      hostPort,
      files: { '/etc/nats/test.conf': settings('0.0.0.0', 4222, '/data', config) },
      command: ['-c', '/etc/nats/test.conf'],
      environment,
      url,
      answers,
    })
  }
  return startProcess({
    program: source.program,
    port: hostPort,
    environment,
    prepare: (directory, port) =>
      writeFile(join(directory, 'nats.conf'), settings('127.0.0.1', port, join(directory, 'jetstream'), config)),
    arguments: (directory) => ['-c', join(directory, 'nats.conf')],
    url,
    answers,
  })
}

const settings = (host: string, port: number, directory: string, config = ''): string => `
host: "${host}"
port: ${port}
jetstream { store_dir: "${directory}" }
${config}
`
