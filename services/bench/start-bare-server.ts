import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const script = fileURLToPath(new URL('bare-server.ts', import.meta.url))
const Listening = z.object({ listening: z.object({ url: z.url() }) })

export interface BareServer extends AsyncDisposable {
  url: string
  pid: number
}

/** Starts a process that does nothing but send this body. */
export const startBareServer = async (body: Buffer): Promise<BareServer> => {
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(body)
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
