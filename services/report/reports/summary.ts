import type { Logger } from 'pino'
import type { agent } from '#proto/agent.ts'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HostReport } from '#proto/host-report.ts'
import { beginningOf } from '#shared/text/cut.ts'
import { layOut } from './render/lay-out.ts'
import { plain } from './render/markdown.ts'

/** Of a report, in characters, that a model reads. */
const longestText = 60_000
const longestSummary = 1_200

/** What a language model makes of a report; null where there is no model, or what it said does not hold. */
export const summaryOf = async (
  { agent: client, log }: { agent: Client<typeof agent>; log: Logger },
  report: HostReport,
  call: Call,
): Promise<string | null> => {
  const text = beginningOf(plain(layOut(report)), longestText)
  try {
    const { summary } = await client.summarise({ text }, call)
    const said = summary.replaceAll(/\s+/g, ' ').trim()
    const problem = problemOf(said, text)
    if (problem === undefined) return said
    log.warn({ hostKey: report.hostKey, problem }, 'the summary of a report is left out')
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, details } = error
    if (details?.reason !== 'provider-not-configured')
      log.warn({ hostKey: report.hostKey, code }, 'a report has no summary')
  }
  return null
}

/** Why a summary cannot stand beside the report; undefined when it can. */
export const problemOf = (summary: string, report: string): string | undefined => {
  if (summary === '' || summary.length > longestSummary) return 'length'
  // Names and statements of the host may have talked the model into something.
  if (/[<>[\]]|:\/\/|www\./i.test(summary)) return 'markup'
  if (spelledOut.test(summary)) return 'figures in words'
  const known = new Set(figuresOf(report))
  return figuresOf(summary).every((figure) => known.has(figure)) ? undefined : 'figures'
}

/** What nobody could look up in the report. */
const spelledOut =
  /\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|twenty|thirty|forty|fifty|hundreds?|thousands?|millions?|billions?|twice|doubled?|tripled?|half|halved|thirds?|quarters?)\b/i

/** Figures of a text, each with its unit where it has one. */
const figuresOf = (text: string): string[] =>
  [...text.matchAll(/\d[\d.,:]*(?:\s?(?:%|[KMGTP]iB\b|B\b|s\b|minutes\b|hours\b|days\b))?/g)].map(([figure]) =>
    figure.replaceAll(/\s/g, '').replaceAll(/[.,:]+(?=\D|$)/g, ''),
  )
