import { defineDetector, emptyOutcome, createNoDataOutcome } from '../detection/detector.ts'

const minAgreeing = 2
const maxNamed = 20

/** Detects settings that differ from the value on which all other hosts of the group agree. */
export const settingsDriftDetector = defineDetector({
  kind: 'settings-drift',
  signal: 'settings compared with the other hosts of the group',
  window: 'now',
  sets: ['settings'],
  link: '/settings-diff',
  detect(_rows, { self, peers }) {
    const ofGroup = peers.filter(({ group }) => group === self.group)
    const theirs = ofGroup
      .map(({ figures }) => figures?.settings)
      .filter((settings) => settings !== null && settings !== undefined)
    const own = self.figures?.settings
    if (!own || ofGroup.length < minAgreeing) return emptyOutcome
    if (theirs.length < minAgreeing)
      return createNoDataOutcome('settings: fewer than two other hosts of the group reported theirs')
    const names = new Set([...Object.keys(own), ...theirs.flatMap((settings) => Object.keys(settings))])
    // If the other hosts disagree, there is no reference value.
    const differing = [...names]
      .filter((name) => new Set(theirs.map((settings) => settings[name])).size === 1)
      .filter((name) => own[name] !== theirs[0]?.[name])
      .toSorted()
    if (differing.length === 0) return emptyOutcome
    const more = differing.length > maxNamed ? ` and ${differing.length - maxNamed} more` : ''
    return {
      notes: [],
      observations: [
        {
          subject: '',
          severity: 'info',
          title: `${differing.length} ${differing.length === 1 ? 'setting differs' : 'settings differ'} from its group`,
          detail: `${differing.slice(0, maxNamed).join(', ')}${more}: ${theirs.length} other hosts of the group agree on another value.`,
          baseline: 0,
          value: differing.length,
          unit: 'settings',
          score: null,
          confidence: 'high',
        },
      ],
    }
  },
})
