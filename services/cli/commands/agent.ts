import { text as readText } from 'node:stream/consumers'
import confirm from '@inquirer/confirm'
import { Command } from 'commander'
import { readServerEvents } from '#proto/server-events.ts'
import { ApprovalPart, EgressPart, ErrorPart } from '#proto/agent-parts.ts'
import { type CommandContext, createCommandClient, openSession, type Session } from '../context.ts'
import { formatExamples } from '../options.ts'
import { CommandError, createUsageError } from '../exit-codes.ts'
import { hostOption, selectHost, type HostOptions } from '../hosts.ts'
import { toSafeLine, toSafeText } from '../output/terminal-text.ts'

/** A chunk of the UI message stream of the AI SDK. */
interface Chunk {
  type: string
  delta?: string
  toolName?: string
  title?: string
  errorText?: string
  data?: unknown
}

const endOfStream = '[DONE]'

/** Asks the agent a question and streams its answer. */
export const createAgentCommand = (context: CommandContext): Command =>
  new Command('agent')
    .description('ask the agent a question and stream its answer')
    .argument('[question]', 'the question; without it, it is read from standard input')
    .addOption(hostOption())
    .option('--model <model>', 'the model as provider:model (default: that of the server)')
    .addHelpText(
      'after',
      formatExamples("watchhouse agent 'Why is eu-1 slow?' --host eu-1", 'watchhouse agent --json < question.txt'),
    )
    .action(async (question: string | undefined, options: HostOptions & { model?: string }, command) => {
      const message = (question ?? (await readQuestion(context))).trim()
      if (message === '') throw createUsageError('the question is empty')
      const session = openSession(context, command)
      const { id: hostId } = await selectHost(session.client, options)
      const response = await session.client.open('POST /api/v1/agent', {
        body: { message, hostId, ...(options.model !== undefined && { model: options.model }) },
      })
      const run = response.headers.get('x-run-id')
      try {
        await writeAnswer(context, session, response)
      } finally {
        if (context.signal.aborted && run !== null) await stopRun(context, session, run)
      }
    })

const readQuestion = async ({ stdin }: CommandContext): Promise<string> => {
  if (stdin.isTTY) throw createUsageError('no question; pass it as argument or on standard input')
  return await readText(stdin)
}

/** Stops the run on the server, where it would otherwise continue. */
const stopRun = async (context: CommandContext, { client }: Session, id: string): Promise<void> => {
  const options = { url: client.url, apiKey: client.apiKey, timeout: 3 }
  const stopping = createCommandClient({ ...context, signal: new AbortController().signal }, options)
  await stopping.call('POST /api/v1/agent/{id}/stop', { path: { id }, body: {} }).catch(() => undefined)
}

const writeAnswer = async (context: CommandContext, session: Session, response: Response): Promise<void> => {
  const { output } = session
  let failure: string | undefined
  let isLineOpen = false
  for await (const { data } of readServerEvents(response)) {
    if (data === endOfStream) break
    // The stream consists of chunks of the AI SDK, which have these fields.
    const chunk = JSON.parse(data) as Chunk
    failure = readFailure(chunk) ?? failure
    if (output.mode === 'json') {
      output.write(`${data}\n`)
      continue
    }
    if (chunk.type === 'text-delta') {
      output.write(toSafeText(chunk.delta ?? ''))
      isLineOpen = !chunk.delta?.endsWith('\n')
    } else if (chunk.type === 'text-end' && isLineOpen) {
      output.line()
      isLineOpen = false
    } else if (chunk.type === 'data-correction') output.note('The agent corrects the previous text:')
    else if (chunk.type === 'tool-input-start')
      output.note(output.paint(`· ${toSafeLine(chunk.title ?? chunk.toolName ?? 'tool')}`, 'muted'))
    else await decide(context, session, chunk)
  }
  context.signal.throwIfAborted()
  if (isLineOpen) output.line()
  if (failure !== undefined) throw new CommandError(failure)
}

const readFailure = ({ type, errorText, data }: Chunk): string | undefined => {
  if (type === 'data-error') return ErrorPart.safeParse(data).data?.message
  return type === 'error' ? errorText : undefined
}

/** Lets the user decide about an action that the agent requests. Without a terminal, the request is denied. */
const decide = async (context: CommandContext, { client, output }: Session, { type, data }: Chunk): Promise<void> => {
  const isAction = type === 'data-approval'
  if (!isAction && type !== 'data-egress') return
  const part = isAction ? ApprovalPart.safeParse(data) : EgressPart.safeParse(data)
  if (!part.success || part.data.state !== 'waiting') return
  const what = describeRequest(part.data)
  const isInteractive = context.stdin.isTTY && context.stderr.isTTY
  const approved = isInteractive
    ? await confirm({ message: what, default: false }, { output: context.stderr, signal: context.signal })
    : false
  if (!isInteractive) output.note(`${what}: denied, because there is no terminal to approve it`)
  const path = { id: part.data.approvalId }
  const body = { approved }
  await (isAction
    ? client.call('POST /api/v1/agent/approvals/{id}', { path, body })
    : client.call('POST /api/v1/agent/egress/{id}', { path, body }))
}

const describeRequest = (part: ApprovalPart | EgressPart): string =>
  'request' in part
    ? `The agent requests on "${toSafeLine(part.host)}": ${toSafeLine(JSON.stringify(part.request))}. Approve?`
    : `The agent sends data to "${toSafeLine(part.server)}" (${toSafeLine(part.title)}). Approve?`
