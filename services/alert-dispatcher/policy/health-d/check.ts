import { statSync } from 'node:fs'
import { channels } from '../../channels/index.ts'
import { readHealthFiles } from './read.ts'

/** Checks a folder of alert definitions before it is deployed: what to print, and whether all of it means something. */
export const checkHealthFiles = (directory: string): { sound: boolean; text: string } => {
  if (!isFolder(directory)) return { sound: false, text: 'there is no such folder\n' }
  const { files, problems } = readHealthFiles(directory, channels)
  if (files.length === 0) return { sound: false, text: 'the folder has no .yaml or .yml file\n' }
  if (problems.length === 0) return { sound: true, text: `${files.join(', ')}: nothing wrong\n` }
  const lines = problems.map(({ file, entry, reason }) => `${file}: ${entry === '' ? reason : `${entry}: ${reason}`}`)
  return { sound: false, text: `${lines.join('\n')}\n` }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
