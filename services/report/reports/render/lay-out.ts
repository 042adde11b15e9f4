import type { HostReport } from '#proto/host-report.ts'
import { momentsOf } from '../moments.ts'
import type { Document, Section } from './document.ts'
import { incidentSection, statementSection, patternSections, failureSection } from './lay-out-events.ts'
import {
  changeSection,
  coverageSection,
  noteSection,
  recommendationSection,
  storageSections,
  upkeepSection,
} from './lay-out-state.ts'

/** Lays a report out in its fixed order; sections of which nothing is known are left out, and the notes say why. */
export const layOut = (report: HostReport): Document => {
  const moment = momentsOf(report.zone)
  const sections: (Section | undefined)[] = [
    summarySection(report),
    incidentSection(report, moment),
    statementSection(report, moment),
    ...patternSections(report),
    failureSection(report),
    ...storageSections(report),
    upkeepSection(report, moment),
    changeSection(report),
    coverageSection(report),
    recommendationSection(report),
    noteSection(report),
  ]
  return {
    title: `${report.host}: ${report.week ?? 'report'}`,
    subtitle: `${moment(report.fromMs)} to ${moment(report.toMs)}, ${report.zone}; written ${moment(report.writtenAtMs)}`,
    verdict: report.verdict,
    sections: sections.filter((section) => section !== undefined),
  }
}

const summarySection = ({ summary }: HostReport): Section | undefined =>
  summary === null ? undefined : { title: 'In short, by a language model', blocks: [{ kind: 'text', text: summary }] }
