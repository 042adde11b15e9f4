import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { LoadTarget } from './load.ts'

const Listening = z.object({ listening: z.object({ url: z.url() }) })

export interface BareServer extends AsyncDisposable {
  url: string
  pid: number
}

/** Starts a process that responds to every request with a fixed body. */
export const startBareServer = async (body: Buffer): Promise<BareServer> =>
  start(new URL('bare-server.ts', import.meta.url), body)

/** Starts a process that sends a fixed statement to a host for each request, and forwards the response. */
export const startBareProxy = async (question: LoadTarget, connections: number): Promise<BareServer> =>
  start(new URL('bare-proxy.ts', import.meta.url), Buffer.from(JSON.stringify(question)), [String(connections)])

/** Starts a process with a minimal Express application. */
export const startExpressServer = async (): Promise<BareServer> =>
  start(new URL('express-server.ts', import.meta.url), Buffer.alloc(0))

/** Starts a process with an MCP server that uses only the official library and has a constant tool. */
export const startBareToolServer = async (): Promise<BareServer> =>
  start(new URL('bare-tool-server.ts', import.meta.url), Buffer.alloc(0))

/** Starts a process with services of the product and an additional constant tool. Uses NATS if `nats` is set. */
export const startToolServices = async (names: readonly string[], nats?: string): Promise<BareServer> =>
  start(new URL('constant-tool-services.ts', import.meta.url), Buffer.alloc(0), names, nats)

/** Starts a process that runs the script, which must report the address of its server. */
export const startScript = async (script: URL, rest: readonly string[]): Promise<BareServer> =>
  start(script, Buffer.alloc(0), rest)

const start = async (script: URL, input: Buffer, rest: readonly string[] = [], nats?: string): Promise<BareServer> => {
  const child = spawn(process.execPath, [fileURLToPath(script), ...rest], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production', ...(nats !== undefined && { NATS_URL: nats }) },
  })
  child.stdin.end(input)
  const [line] = await once(createInterface(child.stdout), 'line')
  const { url } = Listening.parse(JSON.parse(String(line))).listening
  return {
    url,
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
