import { z } from 'zod'
import { HostActionRequest } from './agent.ts'
import { ResultColumn } from './console.ts'
import { HostKey } from './host.ts'

/** One step of a plan, with its status. */
export const PlanStep = z.object({
  title: z.string().min(1).max(200),
  status: z.enum(['pending', 'in_progress', 'completed']),
})
export type PlanStep = z.infer<typeof PlanStep>

/** `data-plan`: the checklist of a request with several steps. Each part replaces the previous one. */
export const PlanPart = z.object({ steps: z.array(PlanStep).min(2).max(20) })

/** The kinds of charts in responses. */
export const answerChartKinds = [
  'bar',
  'line',
  'area',
  'pie',
  'number',
  'table',
  'combo',
  'radial',
  'bar_list',
  'scatter',
] as const

/** `data-chart`: a chart in a response. Values of rows are in column order. */
export const ChartPart = z.object({
  title: z.string().max(200),
  kind: z.enum(answerChartKinds),
  hostKey: HostKey,
  /** The statement that returned the rows. */
  sql: z.string().max(100_000).nullable(),
  columns: z.array(ResultColumn).min(1).max(64),
  rows: z.array(z.array(z.unknown())).max(1_000),
  /** Column of the x-axis; null if the kind has none. */
  x: z.string().nullable(),
  /** Columns whose values the chart shows. */
  y: z.array(z.string()).max(16),
  unit: z.enum(['bytes', 'duration', 'number', 'quantity']).nullable(),
})
export type ChartPart = z.infer<typeof ChartPart>

/** `data-usage`: the cost of a response. Tokens are those of all its steps. */
export const UsagePart = z.object({
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  cachedTokens: z.int().min(0),
  reasoningTokens: z.int().min(0),
  /** Cost in US dollars, as charged by the gateway or estimated from the price of the model; null if neither is known. */
  estimatedCostUsd: z.number().nullable(),
  provider: z.string(),
  /** The requested model, and the model that responded, as named by its gateway. */
  model: z.string(),
  resolvedModel: z.string(),
  steps: z.int().min(0),
  durationMs: z.number(),
  /** Milliseconds until the first token; null if no token arrived. */
  firstTokenMs: z.number().nullable(),
})
export type UsagePart = z.infer<typeof UsagePart>

/** `data-approval`: an action on a host that the agent requests. A later part with the same id reports the outcome. */
export const ApprovalPart = z.object({
  approvalId: z.string(),
  toolCallId: z.string(),
  request: HostActionRequest,
  /** Name of the host. */
  host: z.string(),
  expiresAtMs: z.number(),
  state: z.enum(['waiting', 'denied', 'expired', 'done', 'failed', 'unknown']),
})
export type ApprovalPart = z.infer<typeof ApprovalPart>

/** A piece of an argument, and whether tools have read the same text from a host. */
const ArgumentPiece = z.object({ text: z.string(), isFromHost: z.boolean() })
/** One complete argument: `name` is its path in the arguments. Invisible characters are escaped. */
export const EgressArgument = z.object({ name: z.array(ArgumentPiece), value: z.array(ArgumentPiece) })

/**
 * `data-egress`: a call that sends its arguments to an external server after approval. A later part with the same id
 * replaces it.
 */
export const EgressPart = z.object({
  approvalId: z.string(),
  toolCallId: z.string(),
  tool: z.string(),
  title: z.string(),
  /** Name of the server that receives the arguments. */
  server: z.string(),
  arguments: z.array(EgressArgument),
  expiresAtMs: z.number(),
  state: z.enum(['waiting', 'approved', 'denied', 'expired']),
})
export type EgressPart = z.infer<typeof EgressPart>

/** Error codes of failures that end a response. */
export const agentErrorCodes = [
  'provider-key-refused',
  'provider-out-of-credit',
  'provider-rate-limited',
  'provider-refused',
  'provider-unreachable',
  'provider-failed',
  'provider-garbled',
  'provider-cut-off',
  'provider-timeout',
  'model-not-found',
  'context-too-long',
  'empty-answer',
  'model-refused',
  'unusable-tool-calls',
  'step-limit',
  'token-limit',
  'cost-limit',
  'time-limit',
  'worker-stopping',
  'run-lost',
  'internal',
] as const
export type AgentErrorCode = (typeof agentErrorCodes)[number]

/** `data-error`: why a response is incomplete. A newer release may add codes. */
export const ErrorPart = z.object({
  code: z.string(),
  /** The failure and its remedy. */
  message: z.string(),
  /** Whether a retry may help. */
  retryable: z.boolean(),
  /** Delay before a retry in milliseconds; null if unknown. */
  retryAfterMs: z.number().nullable(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
})
export type ErrorPart = z.infer<typeof ErrorPart>

/** `data-claims`: the claims of the response, in text order, with their evidence. */
export const ClaimsPart = z.object({
  claims: z
    .array(
      z.object({
        text: z.string().max(2_000),
        /** Ids of `data-evidence` parts. */
        evidence: z.array(z.string()).max(32),
        /** Figures in the claim, as written, that do not follow from the cited results. */
        untraced: z.array(z.string().max(64)).max(32).optional(),
      }),
    )
    .max(200),
  /** Evidence ids that the response cites but that do not exist. */
  unknown: z.array(z.string()).max(100),
  /** Whether the response itself states that the evidence is insufficient. */
  insufficient: z.boolean(),
})
export type ClaimsPart = z.infer<typeof ClaimsPart>

/**
 * `data-correction`: the text of the step with this part replaces the text of the previous step. The replaced text had
 * figures that do not follow from the cited results.
 */
export const CorrectionPart = z.object({
  /** The figures that do not follow from the cited results, as written in the replaced text. */
  untraced: z.array(z.string().max(64)).max(100),
})
