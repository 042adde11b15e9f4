import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { createGzip } from 'node:zlib'
import { root } from '../../testing/source-file.ts'

const officialImages = 'node:24-bookworm-slim'
const answersWithinMs = 10_000
const fetchedWithinMs = 300_000
const outputBytes = 16 * 1024 * 1024

/** A built Docker image. */
export interface Image extends AsyncDisposable {
  compressedBytes(): Promise<number>
  /** Runs a container until it exits. `options` are for Docker, `args` for the program. */
  run(options: readonly string[], args: readonly string[]): Promise<{ code: number; output: string }>
  /** Starts all services in a container on the host network, with a read-only file system. */
  start(variables: Record<string, string | number>): Promise<{ id: string } & AsyncDisposable>
}

/** Returns the base image: `TEST_IMAGE_BASE` or the official one. If no image can be built, returns the reason. */
export const findBaseImage = (): { base: string } | { missing: string } => {
  const succeeds = (args: readonly string[], timeout: number) => spawnSync('docker', args, { timeout }).status === 0
  if (!succeeds(['version', '--format', '{{.Server.Version}}'], answersWithinMs))
    return { missing: 'Docker does not respond' }
  const base = process.env.TEST_IMAGE_BASE ?? officialImages
  const isThere =
    succeeds(['image', 'inspect', base], answersWithinMs) || succeeds(['pull', '-q', base], fetchedWithinMs)
  return isThere ? { base } : { missing: `the base ${base} cannot be fetched` }
}

export const runDocker = async (args: readonly string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)('docker', args, { cwd: root, maxBuffer: outputBytes })
  return stdout.trim()
}

export const buildImage = async (base: string): Promise<Image> => {
  const tag = `watchhouse-test:${randomUUID()}`
  await runDocker([
    'build',
    '-q',
    '--network',
    'host',
    '--build-arg',
    `BASE=${base}`,
    '-f',
    'services/Dockerfile',
    '-t',
    tag,
    '.',
  ])
  return {
    compressedBytes: () => compressedBytes(tag),
    async run(options, args) {
      const child = spawn('docker', ['run', '--rm', '--network', 'none', ...options, tag, ...args])
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text) => (output += text))
      await once(child, 'close')
      return { code: child.exitCode ?? -1, output }
    },
    async start(variables) {
      const environment = Object.entries(variables).flatMap(([name, value]) => ['-e', `${name}=${value}`])
      const id = await runDocker(['run', '-d', '--read-only', '--network', 'host', ...environment, tag])
      return { id, [Symbol.asyncDispose]: async () => void (await runDocker(['rm', '-f', id])) }
    },
    [Symbol.asyncDispose]: async () => void (await runDocker(['rmi', '-f', tag])),
  }
}

const compressedBytes = async (tag: string): Promise<number> => {
  const child = spawn('docker', ['save', tag], { stdio: ['ignore', 'pipe', 'inherit'] })
  let bytes = 0
  for await (const chunk of child.stdout.pipe(createGzip())) bytes += Buffer.byteLength(chunk)
  return bytes
}
