import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const script = fileURLToPath(new URL('swept-hosts.ts', import.meta.url))
const Listening = z.object({ listening: z.object({ url: z.url() }) })
const Seen = z.object({ hosts: z.array(z.string()), asked: z.number() })

export interface SweptHosts extends AsyncDisposable {
  /** Where the hosts are, and the statements of rules that they were asked so far. */
  seen(): Promise<{ urls: string[]; asked: number }>
}

/** Starts so many hosts in a process of their own, so that their work does not count as ours. */
export const startSweptHosts = async (count: number, delayMs: number): Promise<SweptHosts> => {
  const child = spawn(process.execPath, [script, String(count), String(delayMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  const { url } = Listening.parse(JSON.parse(String(line))).listening
  return {
    async seen() {
      const { hosts, asked } = Seen.parse(await (await fetch(url)).json())
      return { urls: hosts, asked }
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
