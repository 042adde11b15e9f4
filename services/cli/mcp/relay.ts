import {
  type JSONRPCMessage,
  isInitializeRequest,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
import type { CommandContext } from '../context.ts'

/** The server to which messages are relayed. */
export interface RelayTarget {
  url: URL
  /** Sends a request to the server. Its errors are shown to the user of the client. */
  fetch(input: string | URL, init?: RequestInit): Promise<Response>
}

const serverError = -32_000
const Cancellation = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
})
const Initialized = z.object({ protocolVersion: z.string() })

/**
 * Relays MCP messages between standard input and output and a server, until the input ends. A cancellation closes the
 * request at the server, which stops the statement on the host in every revision of the protocol.
 */
export const relayMessages = async (
  { stdin, stdout, stderr, signal }: Pick<CommandContext, 'stdin' | 'stdout' | 'stderr' | 'signal'>,
  { url, fetch }: RelayTarget,
): Promise<void> => {
  const client = new StdioServerTransport(stdin, stdout)
  const server = new StreamableHTTPClientTransport(url, { fetch })
  const running = new Map<string | number, AbortController>()
  let handshake: string | number | undefined

  const forward = async (message: JSONRPCMessage): Promise<void> => {
    const cancelled = Cancellation.safeParse(message).data
    if (cancelled) return running.get(cancelled.params.requestId)?.abort()
    if (!isJSONRPCRequest(message)) return server.send(message)
    const { id } = message
    if (isInitializeRequest(message)) handshake = id
    const controller = new AbortController()
    running.set(id, controller)
    try {
      await server.send(message, { requestSignal: controller.signal })
    } catch (error) {
      running.delete(id)
      if (controller.signal.aborted) return
      const text = error instanceof Error ? error.message : String(error)
      await client.send({ jsonrpc: '2.0', id, error: { code: serverError, message: text } })
    }
  }

  const deliver = (message: JSONRPCMessage): void => {
    if ('id' in message && message.id !== undefined && !('method' in message)) running.delete(message.id)
    if (isJSONRPCResultResponse(message) && message.id === handshake) {
      const { protocolVersion } = Initialized.safeParse(message.result).data ?? {}
      if (protocolVersion !== undefined) server.setProtocolVersion(protocolVersion)
    }
    void client.send(message)
  }
  const report = (error: unknown): void =>
    void stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  // Transports are no event targets.
  Object.assign(server, { onmessage: deliver })
  Object.assign(client, {
    onerror: report,
    onclose: end,
    onmessage: (message: JSONRPCMessage) => void forward(message).catch(report),
  })
  signal.addEventListener('abort', () => end(), { once: true })
  await server.start()
  await client.start()
  await ended
  for (const controller of running.values()) controller.abort()
  await Promise.all([server.close(), client.close()])
}
