import { randomBytes } from 'node:crypto'
import {
  createRequestStateCodec,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'

type Requests = NonNullable<Parameters<typeof inputRequired>[0]['inputRequests']>

/** Signs and verifies the request state, which contains the current round of input requests. */
const states = createRequestStateCodec<{ round: number }>({ key: randomBytes(32) })

/** Server options that reject a request state which this process did not sign. */
export const requestState = { verify: states.verify }

const elicit = (message: string, name: string) =>
  inputRequired.elicit({ message, requestedSchema: z.object({ [name]: z.string() }) })

const sample = (text: string) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100 })

const userName = { user_name: elicit('What is your name?', 'name') }
const capital = { capital_question: sample('What is the capital of France?') }
const confirmation = {
  confirm: inputRequired.elicit({ message: 'Please confirm', requestedSchema: z.object({ ok: z.boolean() }) }),
}

/** The input requests of each round, for each tool of the suite that requires input. */
const conversations: Readonly<Record<string, readonly Requests[]>> = {
  test_missing_capability: [capital],
  test_streaming_elicitation: [userName],
  test_input_required_result_elicitation: [userName],
  test_input_required_result_sampling: [capital],
  test_input_required_result_list_roots: [{ client_roots: inputRequired.listRoots() }],
  test_input_required_result_request_state: [confirmation],
  test_input_required_result_tampered_state: [confirmation],
  test_input_required_result_multiple_inputs: [
    { ...userName, greeting: sample('Generate a greeting'), client_roots: inputRequired.listRoots() },
  ],
  test_input_required_result_multi_round: [
    { step1: elicit('Step 1: What is your name?', 'name') },
    { step2: elicit('Step 2: What is your favorite color?', 'color') },
  ],
}

/** Registers tools and a prompt that require input from the client. */
export const registerInputTools = (server: McpServer): void => {
  for (const [name, rounds] of Object.entries(conversations)) {
    server.registerTool(
      name,
      { description: 'Requests input' },
      async (context) => (await requestInput(rounds, context)) ?? done,
    )
  }
  server.registerTool(
    'test_input_required_result_capabilities',
    { description: 'Requests input that its client supports' },
    async (context) => (await requestInput([listAnswerableRequests(server)], context)) ?? done,
  )
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Requests its context' },
    async (context) =>
      (await requestInput([{ user_context: elicit('What context should the prompt use?', 'context') }], context)) ?? {
        messages: [{ role: 'user', content: { type: 'text', text: 'in this context' } }],
      },
  )
}

const done = { content: [{ type: 'text' as const, text: 'state-ok' }] }

/** Returns the next input requests for the client; undefined if it has responded to all of them. */
const requestInput = async (rounds: readonly Requests[], { mcpReq }: ServerContext) => {
  const { round } = mcpReq.requestState<{ round: number }>() ?? { round: 0 }
  const answered = Object.keys(rounds[round] ?? {}).every((key) => mcpReq.inputResponses?.[key] !== undefined)
  const inputRequests = rounds[answered ? round + 1 : round]
  if (inputRequests === undefined) return undefined
  return inputRequired({ inputRequests, requestState: await states.mint({ round: answered ? round + 1 : round }) })
}

const listAnswerableRequests = ({ server }: McpServer): Requests => {
  const capabilities = server.getClientCapabilities()
  return {
    ...(capabilities?.elicitation && userName),
    ...(capabilities?.sampling && { greeting: sample('Generate a greeting') }),
  }
}
