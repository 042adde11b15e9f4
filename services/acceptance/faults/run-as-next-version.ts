import packageFile from '../../../package.json' with { type: 'json' }

// Loaded before the product, which reads the same object: the process then reports another version, as during an update.
packageFile.version = '99.0.0'
