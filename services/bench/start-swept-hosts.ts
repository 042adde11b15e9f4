import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const script = fileURLToPath(new URL('swept-hosts.ts', import.meta.url))
const Listening = z.object({ listening: z.object({ url: z.url() }) })
const SweptHosts = z.object({ hosts: z.array(z.string()), ruleStatements: z.number() })

export interface SweptHosts extends AsyncDisposable {
  /** Returns the addresses of the hosts and the number of rule statements received so far. */
  stats(): Promise<{ urls: string[]; ruleStatements: number }>
}

/** Starts fake hosts in a separate process, so that their CPU time does not count. */
export const startSweptHosts = async (count: number, delayMs: number): Promise<SweptHosts> => {
  const child = spawn(process.execPath, [script, String(count), String(delayMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  const { url } = Listening.parse(JSON.parse(String(line))).listening
  return {
    async stats() {
      const { hosts, ruleStatements } = SweptHosts.parse(await (await fetch(url)).json())
      return { urls: hosts, ruleStatements }
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
