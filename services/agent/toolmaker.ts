import type { AgentQuestion } from '#proto/agent.ts'
import type { Call } from '#proto/call.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { AgentTool } from './tool.ts'
import { controlTools } from './approvals/control-tools.ts'
import { mayWish } from './approvals/may-wish.ts'

/** The tools that one question may have, besides those that every answer has of its own. */
export type Toolmaker = (question: AgentQuestion, call: Call) => Promise<readonly AgentTool[]>

/** Where tools come from. */
interface Sources {
  env: Environment
  /** In the order of their precedence. */
  from: readonly Toolmaker[]
}

/** A source that cannot be had leaves its tools out, since the others may do. */
export const openToolmaker =
  ({ env, from }: Sources): Toolmaker =>
  async (question, call) => {
    const tools = await Promise.all(from.map((make) => make(question, call)))
    return [...tools.flat(), ...(mayWish(call, env) ? controlTools : [])]
  }
