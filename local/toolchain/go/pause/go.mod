module enginekeeper.dev/local/toolchain/pause

go 1.26
