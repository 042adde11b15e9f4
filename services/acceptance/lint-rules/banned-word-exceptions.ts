/** An exception for files in which banned words are allowed. Without `words`, all banned words are allowed. */
export interface BannedWordException {
  paths: RegExp
  words?: RegExp
  reason: string
}

/** All exceptions of `language.test.ts`. An exception that matches nothing fails the test. */
export const bannedWordExceptions: readonly BannedWordException[] = [
  {
    paths: /^services\/acceptance\/(language\.test|lint-rules\/banned-word-exceptions)\.ts$/,
    reason: 'the test contains the words that it searches for',
  },
  { paths: /\.(ts|svelte)$/, words: /allSettled|onSettled/, reason: 'names of JavaScript and of TanStack Query' },
  { paths: /read-only\.test\.ts$|console\.test\.ts$/, words: /verdict/, reason: 'a field of the corpus of statements' },
  {
    paths: /^services\/(shared\/tools|agent)\//,
    words: /'ask'|`ask`|askUser|ask-user|Ask the user|^ask: \[/,
    reason: 'the tool ask_user',
  },
  {
    paths: /^services\/agent\/loop\/prompt\.ts$|titling\.ts$/,
    words: /asks for secrets|may ask the assistant/,
    reason: 'people ask a model',
  },
  { paths: /^services\/testing\/servers\/postgres\.ts$/, words: /nobody/, reason: 'the user of the operating system' },
  {
    paths: /^web\/(src\/lib|tests)\//,
    words: /['">\s]Ask\b|^Ask$|\bask\(|const ask =|id: 'ask'/,
    reason: 'people ask the agent',
  },
]
