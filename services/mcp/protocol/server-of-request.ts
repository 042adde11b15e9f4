import { McpServer, Server, type Transport } from '@modelcontextprotocol/server'
import { refuseInvalidParams } from './invalid-params.ts'

/** Offers something by name, for the one request that it answers. */
export class ServerOfRequest extends McpServer {
  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport)
    attend(transport)
  }
}

/**
 * Answers one call. What the library keeps of things offered by name outlives the request until all memory is looked through, with all
 * that they reach, and calls are most of what is asked.
 */
export class ServerOfCall extends Server {
  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport)
    attend(transport)
  }
}

/** Exact about what callers did wrong; closed as soon as it has answered, when the library makes an error for those who still wait: without a stack, as nobody does. */
const attend = (transport: Transport): void => {
  refuseInvalidParams(transport)
  const { onclose } = transport
  // A transport is no event target.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  transport.onclose = () => {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    try {
      onclose?.()
    } finally {
      Error.stackTraceLimit = stackTraceLimit
    }
  }
}
