module example.com/microloop

go 1.24
