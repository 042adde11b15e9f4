import { readSource } from './source-file.ts'

/** The guide for operators. Tests run its commands as printed. */
export const guidePath = 'helm/OPERATIONS.md'

/** Returns the code block of the guide that contains a text. Throws if there is none or more than one. */
export const readGuideBlock = (text: string): string => {
  const blocks = [...readSource(guidePath).text.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
  const found = blocks.filter((block) => block.includes(text))
  const [block, ...others] = found
  if (block === undefined || others.length > 0)
    throw new Error(`expected one code block with "${text}" in ${guidePath}, found ${found.length}`)
  return block
}

/** Returns the command that the guide runs in a pod, without `kubectl exec` and redirections. */
export const readPodCommand = (text: string): string[] => {
  const line = readGuideBlock(text)
    .split('\n')
    .find((each) => each.includes(text))
  const [, command] = / -- (.+?)(?: [<>].*)?$/.exec(line ?? '') ?? []
  if (command === undefined) throw new Error(`"${text}" is not in a command of kubectl exec in ${guidePath}`)
  return command.split(' ')
}
