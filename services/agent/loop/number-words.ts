/** A text in which digits replace the number words. */
export interface ReplacedText {
  text: string
  /** The replaced words by the position of their digits. */
  replacements: ReadonlyMap<number, WordReplacement>
}

/** A number word that digits replace. */
interface WordReplacement {
  /** The end of the digits. */
  end: number
  /** The phrase as it was written. */
  written: string
  /** Whether the word is `no` or a number up to twelve, which texts also use in other senses. */
  isCommon: boolean
}

const smallNumberWords =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const tensWords = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']
const numberWord = [...smallNumberWords, ...tensWords, 'dozen', 'hundred', 'thousand', 'million', 'billion'].join('|')
const plainNumber = String.raw`\b(?:a\s(?=dozen|hundred|thousand|million|billion))?(?:${numberWord})(?:(?:[\s-]+|\s+and\s+)(?:${numberWord}))*\b`
const durationUnit = 'second|minute|hour|day|week'
const partNames: Readonly<Record<string, number>> = { hal: 2, third: 3, quarter: 4, fifth: 5, tenth: 10 }
/** Words after `half` or `a third` that make it a share, unlike `the third replica`. */
const wholeWords = 'of|as|the|its|their|full|free|used|empty|done|complete|finished|left'
/** Words after `no` that belong to a comparison or to another sense, as in `no more than 5` or `no longer`. */
const comparisons = 'more|less|fewer|above|over|below|under|exceeds?|than|longer|further|one|need'

/** The forms of number words. The first form that matches at a position is used. */
const forms: readonly (readonly [RegExp, (words: string[], after: string) => string | undefined])[] = [
  [
    new RegExp(String.raw`\b(?:an?|${numberWord})\s(?:${durationUnit})s?\sand\sa\shalf\b`, 'i'),
    ([count = '', unit = '']) => `${(parseWords([count]) || 1) + 0.5} ${unit}`,
  ],
  [new RegExp(String.raw`\ban?\s(?:${durationUnit})\b`, 'i'), ([, unit = '']) => `1 ${unit}`],
  [
    new RegExp(String.raw`\bthe\s(?:last|past)\s(?:${durationUnit})\b`, 'i'),
    ([the, last, unit]) => `${the} ${last} 1 ${unit}`,
  ],
  [
    /\b(?:half|a\squarter|three\squarters)\sof\sa\s(?:million|billion)\b/i,
    (words) => `${{ half: 0.5, a: 0.25, three: 0.75 }[words[0] ?? ''] ?? 1} ${words.at(-1)}`,
  ],
  [
    new RegExp(String.raw`\bhalf\san?\s(?:dozen|thousand|million|billion|${durationUnit})\b`, 'i'),
    ([, , unit = '']) => (unit === 'dozen' ? '6' : `0.5 ${unit}`),
  ],
  [
    new RegExp(
      String.raw`(?<!\b(?:first|second|other|latter|last)\s)\b(?:half|(?:a|one|two|three|four)[\s-](?:hal(?:f|ves)|thirds?|quarters?|fifths?|tenths?))(?=\s(?:${wholeWords})\b)(?!\sof\san?\s)`,
      'i',
    ),
    (words) => {
      const divisor = partNames[words.at(-1)?.replace(/(?:f|ves|s)$/, '') ?? ''] ?? 2
      return `${Math.round(((parseWords(words.slice(0, -1)) || 1) * 100) / divisor)} %`
    },
  ],
  [
    /\bby\s(?:half|(?:a|two|three)[\s-](?:thirds?|quarters?|fifths?))\b/i,
    ([, ...words]) => {
      const divisor = partNames[words.at(-1)?.replace(/(?:f|s)$/, '') ?? ''] ?? 2
      return `by ${Math.round(((parseWords(words.slice(0, -1)) || 1) * 100) / divisor)} %`
    },
  ],
  [/\btwice\b/i, (_words, after) => (/^\s(?:as|the|that|its)\b/i.test(after) ? '2.0 times' : '2 times')],
  [/\b(?:doubled|tripled|quadrupled)\b/i, ([word = '']) => `${'dtq'.indexOf(word.charAt(0)) + 2}.0 times`],
  [/\bhalved\b/i, () => '50 %'],
  [/\bthrice\b/i, () => '3 times'],
  [/\ba\scouple\sof\b/i, () => '2'],
  [
    new RegExp(
      String.raw`\b(?:none(?:\sof(?:\s(?:the|its|these))?)?|no)\b(?=\s\p{L})(?![^.;,]{0,80}\b(?:${comparisons})\b)`,
      'iu',
    ),
    () => '0',
  ],
  [
    new RegExp(String.raw`\b(?:${numberWord})fold\b`, 'i'),
    ([word = '']) => `${parseWords([word.replace(/fold$/, '')])} fold`,
  ],
  [new RegExp(plainNumber, 'i'), (words) => String(parseWords(words))],
]
const anyForm = new RegExp(forms.map(([{ source }]) => source).join('|'), 'giu')
const maxCommon = 12
const contextLength = 48

/** Replaces number words, such as `ninety-nine thousand`, `three dozen`, `twice` or `a third of`, with digits. */
export const replaceNumberWords = (text: string): ReplacedText => {
  const replacements = new Map<number, WordReplacement>()
  let [replaced, end] = ['', 0]
  for (const match of text.matchAll(anyForm)) {
    const [written] = match
    const [before, after] = [
      text.slice(Math.max(0, match.index - contextLength), match.index),
      text.slice(match.index + written.length, match.index + written.length + contextLength * 2),
    ]
    const digits = isNumber(written, before, after) ? formatWords(written, after) : undefined
    if (digits === undefined) continue
    replaced += text.slice(end, match.index)
    const isCommon = /^\d+$/.test(digits) && Number(digits) <= maxCommon
    replacements.set(replaced.length, { end: replaced.length + digits.length, written, isCommon })
    replaced += digits
    end = match.index + written.length
  }
  return { text: replaced + text.slice(end), replacements }
}

const startForms = forms.map(([{ source }, format]) => ({ pattern: new RegExp(`^(?:${source})`, 'iu'), format }))

const formatWords = (written: string, after: string): string | undefined => {
  const words = written.toLowerCase().split(/[\s-]+/)
  const form = startForms.find(({ pattern }) => pattern.exec(written + after)?.[0] === written)
  return form?.format(words, after)
}

/** `An hour` is a duration after these words, but not in `twice an hour`. */
const singleDuration = new RegExp(String.raw`^an?\s(?:${durationUnit})$`, 'i')
const beforeDuration = /\b(?:is|was|for|exceeds?|exceeded|than|about|over|under|nearly|almost|takes?|took|after)\s$/i
const oneOfSeveral = new RegExp(String.raw`^\s(?:out\s)?of\s(?:the\s|its\s)?(?:${numberWord}|\d)`, 'i')

/** Returns whether a word is a number here: not after digits, as in `12 million`, and not the pronoun `one`. */
const isNumber = (written: string, before: string, after: string): boolean => {
  if (/\d\s*$/.test(before)) return false
  if (singleDuration.test(written)) return beforeDuration.test(before)
  if (written.toLowerCase() !== 'one') return true
  if (oneOfSeveral.test(after)) return true
  if (beforeDuration.test(before) && new RegExp(String.raw`^\s(?:${durationUnit})\b`, 'i').test(after)) return true
  if (/^One$/.test(written) && /^\s\p{Ll}+\s(?:has|is|was|\p{L}+ed)\b/u.test(after)) return true
  if (/\bof (?:which|them|these)\s$/i.test(before)) return true
  return (
    /\b(?:only|just|exactly|is|are|was|were|has|have|runs?|ran)\s$/i.test(before) &&
    !/^\s(?:of|or|more|that|which)\b/i.test(after)
  )
}

/** Returns the value of number words; 0 if there are none. */
const parseWords = (words: readonly string[]): number => {
  let [sum, group] = [0, 0]
  for (const word of words) {
    const scale = { thousand: 1e3, million: 1e6, billion: 1e9 }[word]
    if (scale !== undefined) [sum, group] = [sum + Math.max(1, group) * scale, 0]
    else if (word === 'hundred' || word === 'dozen') group = Math.max(1, group) * (word === 'dozen' ? 12 : 100)
    else
      group += tensWords.includes(word)
        ? (tensWords.indexOf(word) + 2) * 10
        : Math.max(0, smallNumberWords.indexOf(word))
  }
  return sum + group
}
