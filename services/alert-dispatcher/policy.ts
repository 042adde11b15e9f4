import type { Severity } from '#proto/rules.ts'

/** All that operators have settled about alerts, resolved field by field: database, then file, then environment, then default. */
export interface Policy {
  /** False pauses dispatch; checks and the state of conditions go on. */
  enabled: boolean
  minSeverity: Severity
  /** 0 sends no reminders. */
  cooldownMs: number
  /** 0 gathers nothing. */
  digestMs: number
  breaches: number
  clears: number
  /** By rule id, where the operator wants it otherwise. */
  rules: Readonly<Record<string, RulePolicy>>
  custom: readonly CustomRule[]
  maintenance: readonly MaintenanceWindow[]
  quietHours: readonly QuietHours[]
  routes: readonly Route[]
}

/** What an operator wants otherwise about one rule; absent fields are the rule's own. */
export interface RulePolicy {
  enabled?: boolean
  minSeverity?: Severity
  warning?: number
  critical?: number
  breaches?: number
  clears?: number
}

/** A rule that an operator put on one of the metrics. */
export interface CustomRule {
  /** `custom:<slug>-<8 hex digits>` */
  id: string
  name: string
  metric: string
  operator: '>' | '>=' | '<' | '<='
  warning: number | null
  critical: number | null
  enabled: boolean
}

/** A stated time in which nobody is told anything about a host, or about any when `hostKey` is null; half open. */
export interface MaintenanceWindow {
  id: string
  hostKey: string | null
  reason: string
  startsAtMs: number
  endsAtMs: number
}

/** Hours of a week in a zone; a window that ends before it starts runs over midnight and belongs to the day it starts on. */
export interface QuietHours {
  id: string
  /** 0 is Sunday. */
  days: readonly number[]
  /** `HH:mm` */
  start: string
  end: string
  timezone: string
  /** `critical` lets critical pass; null holds everything. */
  severityCap: 'critical' | null
}

/** Where notices go that match; globs with `*` and `?`. */
export interface Route {
  id: string
  matchRule: string
  matchHost: string
  matchGroup: string
  matchTag: string
  /** Name of the channel or webhook target. */
  target: string
  enabled: boolean
  minSeverity: Severity | null
}
