import { z } from 'zod'
import { ControlWish } from './agent.ts'
import { ResultColumn } from './console.ts'
import { HostKey } from './host.ts'

/** Where one step of a plan stands. */
export const PlanStep = z.object({
  title: z.string().min(1).max(200),
  status: z.enum(['pending', 'in_progress', 'completed']),
})
export type PlanStep = z.infer<typeof PlanStep>

/** `data-plan`: the checklist of a question that takes several steps; each part replaces the one before it. */
export const PlanPart = z.object({ steps: z.array(PlanStep).min(2).max(20) })

/** The kinds of charts that an answer may show. */
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

/** `data-chart`: a chart in an answer, drawn from rows in the order of their columns. */
export const ChartPart = z.object({
  title: z.string().max(200),
  kind: z.enum(answerChartKinds),
  hostKey: HostKey,
  /** The statement that gave the rows. */
  sql: z.string().max(100_000).nullable(),
  columns: z.array(ResultColumn).min(1).max(64),
  rows: z.array(z.array(z.unknown())).max(1_000),
  /** Column along the axis; null where a kind has none. */
  x: z.string().nullable(),
  /** Columns that are drawn. */
  y: z.array(z.string()).max(16),
  unit: z.enum(['bytes', 'duration', 'number', 'quantity']).nullable(),
})
export type ChartPart = z.infer<typeof ChartPart>

/** `data-usage`: what an answer has cost; tokens are those of all its steps. */
export const UsagePart = z.object({
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  cachedTokens: z.int().min(0),
  reasoningTokens: z.int().min(0),
  /** In US dollars; null where the price of the model is not known. */
  estimatedCostUsd: z.number().nullable(),
  provider: z.string(),
  /** As it was asked for, and as its gateway named the one that answered. */
  model: z.string(),
  resolvedModel: z.string(),
  steps: z.int().min(0),
  durationMs: z.number(),
  /** Milliseconds until the model said anything; null when it never did. */
  firstTokenMs: z.number().nullable(),
})
export type UsagePart = z.infer<typeof UsagePart>

/** `data-approval`: what the agent wishes to have done to a host. A later part of the same id says what came of it. */
export const ApprovalPart = z.object({
  approvalId: z.string(),
  toolCallId: z.string(),
  wish: ControlWish,
  /** Name of the host. */
  host: z.string(),
  expiresAtMs: z.number(),
  state: z.enum(['waiting', 'denied', 'expired', 'done', 'failed', 'unknown']),
})
export type ApprovalPart = z.infer<typeof ApprovalPart>

/** A part of an argument, and whether tools have read the same text from a host. */
const ArgumentPiece = z.object({ text: z.string(), isFromHost: z.boolean() })
/** One argument in full, by its path; characters that are not visible are written as escapes. */
export const EgressArgument = z.object({ name: z.array(ArgumentPiece), value: z.array(ArgumentPiece) })

/** `data-egress`: a call that sends its arguments to an external server once a person approves it. A later part of the same id replaces it. */
export const EgressPart = z.object({
  approvalId: z.string(),
  toolCallId: z.string(),
  tool: z.string(),
  title: z.string(),
  /** Name of the server that gets the arguments. */
  server: z.string(),
  arguments: z.array(EgressArgument),
  expiresAtMs: z.number(),
  state: z.enum(['waiting', 'approved', 'denied', 'expired']),
})
export type EgressPart = z.infer<typeof EgressPart>

/** Kinds of failures that end an answer. */
export const agentFailures = [
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
  'unusable-tool-calls',
  'step-limit',
  'token-limit',
  'cost-limit',
  'time-limit',
  'worker-stopping',
  'run-lost',
  'internal',
] as const
export type AgentFailure = (typeof agentFailures)[number]

/** `data-error`: why an answer ends before it is whole; a newer release may know further codes. */
export const ErrorPart = z.object({
  code: z.string(),
  /** What happened, and what to do. */
  message: z.string(),
  /** Whether asking again may help as things are. */
  retryable: z.boolean(),
  /** When it may help, in milliseconds; null where that is not known. */
  retryAfterMs: z.number().nullable(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
})
export type ErrorPart = z.infer<typeof ErrorPart>

/** `data-claims`: what the answer claims and what stands behind it, in the order of its text. */
export const ClaimsPart = z.object({
  claims: z
    .array(
      z.object({
        text: z.string().max(2_000),
        /** Ids of `data-evidence` parts. */
        evidence: z.array(z.string()).max(32),
      }),
    )
    .max(200),
  /** References in the answer that stand for nothing. */
  unknown: z.array(z.string()).max(100),
  /** Whether the answer says itself that the evidence does not suffice. */
  insufficient: z.boolean(),
})
export type ClaimsPart = z.infer<typeof ClaimsPart>
