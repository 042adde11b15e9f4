import type { ServerContext } from '@modelcontextprotocol/server'

const everyMs = 2_000

/** Sends progress notifications every two seconds until disposed, if the client requested them. */
export const reportProgress = ({ mcpReq }: Pick<ServerContext, 'mcpReq'>, tool: string): Disposable => {
  const { _meta: { progressToken } = {} } = mcpReq
  if (progressToken === undefined) return { [Symbol.dispose]: () => undefined }
  const startedAtMs = performance.now()
  const timer = setInterval(() => {
    const progress = Math.round((performance.now() - startedAtMs) / 1_000)
    const params = { progressToken, progress, message: `${tool} has been running for ${progress} s` }
    // The client may have left, which ends the call anyway.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }, everyMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
