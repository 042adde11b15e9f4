import type { Logger } from 'pino'
import type { AgentQuestion } from '#proto/agent.ts'
import type { Call } from '#proto/call.ts'
import type { Environment } from '#shared/config/environment.ts'
import { controlTools } from './approvals/control-tools.ts'
import { mayWish } from './approvals/may-wish.ts'
import type { AgentTool } from './tool.ts'

/** The tools that one question may have, besides those that every answer has of its own. */
export type Toolmaker = (question: AgentQuestion, call: Call) => Promise<readonly AgentTool[]>

/** Where tools come from. */
interface Sources {
  env: Environment
  /** Of tools with one name the first counts. */
  from: readonly Toolmaker[]
  log: Logger
}

/** Asks every source at once. One that fails leaves its tools out, since the others may do. */
export const openToolmaker =
  ({ env, from, log }: Sources): Toolmaker =>
  async (question, call) => {
    const made = await Promise.allSettled(from.map((make) => make(question, call)))
    call.signal.throwIfAborted()
    for (const each of made) {
      if (each.status === 'rejected') log.warn({ err: each.reason }, 'tools left out of an answer')
    }
    const tools = made.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    return [...tools, ...(mayWish(call, env) ? controlTools : [])]
  }
