import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const Listening = z.object({ listening: z.object({ url: z.url() }) })

export interface BareServer extends AsyncDisposable {
  url: string
  pid: number
}

/** Starts a process that does nothing but send this body. */
export const startBareServer = async (body: Buffer): Promise<BareServer> =>
  start(new URL('bare-server.ts', import.meta.url), body)

/** Starts a process that answers as an Express application of few lines does. */
export const startExpressServer = async (): Promise<BareServer> =>
  start(new URL('express-server.ts', import.meta.url), Buffer.alloc(0))

const start = async (script: URL, input: Buffer): Promise<BareServer> => {
  const child = spawn(process.execPath, [fileURLToPath(script)], { stdio: ['pipe', 'pipe', 'inherit'] })
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
