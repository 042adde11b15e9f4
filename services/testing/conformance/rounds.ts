import { randomBytes } from 'node:crypto'
import {
  createRequestStateCodec,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'

type Requests = NonNullable<Parameters<typeof inputRequired>[0]['inputRequests']>

/** Which round of a conversation a request belongs to. */
const states = createRequestStateCodec<{ round: number }>({ key: randomBytes(32) })

/** Refuses states that were not made here. */
export const requestState = { verify: states.verify }

const asksFor = (message: string, name: string) =>
  inputRequired.elicit({ message, requestedSchema: z.object({ [name]: z.string() }) })

const asksModel = (text: string) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100 })

const userName = { user_name: asksFor('What is your name?', 'name') }
const capital = { capital_question: asksModel('What is the capital of France?') }
const confirmation = {
  confirm: inputRequired.elicit({ message: 'Please confirm', requestedSchema: z.object({ ok: z.boolean() }) }),
}

/** The tools of the suite that ask back, with what each asks for, round by round. */
const conversations: Readonly<Record<string, readonly Requests[]>> = {
  test_missing_capability: [capital],
  test_streaming_elicitation: [userName],
  test_input_required_result_elicitation: [userName],
  test_input_required_result_sampling: [capital],
  test_input_required_result_list_roots: [{ client_roots: inputRequired.listRoots() }],
  test_input_required_result_request_state: [confirmation],
  test_input_required_result_tampered_state: [confirmation],
  test_input_required_result_multiple_inputs: [
    { ...userName, greeting: asksModel('Generate a greeting'), client_roots: inputRequired.listRoots() },
  ],
  test_input_required_result_multi_round: [
    { step1: asksFor('Step 1: What is your name?', 'name') },
    { step2: asksFor('Step 2: What is your favorite color?', 'color') },
  ],
}

/** Offers tools and a prompt that ask their client back before they answer. */
export const offerConversations = (server: McpServer): void => {
  for (const [name, rounds] of Object.entries(conversations)) {
    server.registerTool(name, { description: 'Asks back' }, async (asked) => (await askBack(rounds, asked)) ?? done)
  }
  server.registerTool(
    'test_input_required_result_capabilities',
    { description: 'Asks back what its client can answer' },
    async (asked) => (await askBack([answerable(server)], asked)) ?? done,
  )
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Asks for its context' },
    async (asked) =>
      (await askBack([{ user_context: asksFor('What context should the prompt use?', 'context') }], asked)) ?? {
        messages: [{ role: 'user', content: { type: 'text', text: 'in this context' } }],
      },
  )
}

const done = { content: [{ type: 'text' as const, text: 'state-ok' }] }

/** What is still to be asked; undefined when everything was answered. */
const askBack = async (rounds: readonly Requests[], { mcpReq }: ServerContext) => {
  const { round } = mcpReq.requestState<{ round: number }>() ?? { round: 0 }
  const answered = Object.keys(rounds[round] ?? {}).every((key) => mcpReq.inputResponses?.[key] !== undefined)
  const inputRequests = rounds[answered ? round + 1 : round]
  if (inputRequests === undefined) return undefined
  return inputRequired({ inputRequests, requestState: await states.mint({ round: answered ? round + 1 : round }) })
}

const answerable = ({ server }: McpServer): Requests => {
  const capabilities = server.getClientCapabilities()
  return {
    ...(capabilities?.elicitation && userName),
    ...(capabilities?.sampling && { greeting: asksModel('Generate a greeting') }),
  }
}
