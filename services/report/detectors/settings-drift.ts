import { detector, nothing, untold } from '../measures/detector.ts'

const leastAgreeing = 2
const mostNamed = 20

/** Settings are other than on the hosts of the group, which agree with one another. */
export const settingsDrift = detector({
  kind: 'settings-drift',
  signal: 'settings against the other hosts of the group',
  window: 'now',
  sets: ['settings'],
  link: '/settings-diff',
  detect(_rows, { self, peers }) {
    const ofGroup = peers.filter(({ group }) => group === self.group)
    const theirs = ofGroup
      .map(({ figures }) => figures?.settings)
      .filter((settings) => settings !== null && settings !== undefined)
    const own = self.figures?.settings
    if (!own || ofGroup.length < leastAgreeing) return nothing
    if (theirs.length < leastAgreeing) return untold('settings: fewer than two other hosts of the group told theirs')
    const names = new Set([...Object.keys(own), ...theirs.flatMap((settings) => Object.keys(settings))])
    // Where the others disagree among themselves, none of them is the rule.
    const differing = [...names]
      .filter((name) => new Set(theirs.map((settings) => settings[name])).size === 1)
      .filter((name) => own[name] !== theirs[0]?.[name])
      .toSorted()
    if (differing.length === 0) return nothing
    const more = differing.length > mostNamed ? ` and ${differing.length - mostNamed} more` : ''
    return {
      notes: [],
      sights: [
        {
          subject: '',
          severity: 'info',
          title: `${differing.length} ${differing.length === 1 ? 'setting is' : 'settings are'} other than in its group`,
          detail: `${differing.slice(0, mostNamed).join(', ')}${more}: ${theirs.length} other hosts agree on them.`,
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
